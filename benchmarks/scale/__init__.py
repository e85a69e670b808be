"""Scale: more rows than memory holds, and more machines than one."""
