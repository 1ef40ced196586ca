/**
 * The tables of the standard, in memory that all isolates of a process share. The values of `tableNames` start at the
 * offsets with which the array begins. No reference to it may leave this script.
 */
declare const tables: Uint32Array
