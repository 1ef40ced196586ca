/** SQL that several statements of the journal share. */
/** Returns the SQL of an insert that skips existing rows, and of one that fails on them. */
export const ignoreExisting = (insert: (rows: string) => string) => ({
  text: (rows: string) => `${insert(rows)} ON CONFLICT DO NOTHING`,
  strictText: insert
})

/**
 * Returns a condition for runs that are found by their ids. A plain comparison could make the planner use the index of
 * running runs, and search all of them for each id.
 */
export const isRunning = (table: string): string => `${table}.status || '' = 'running'`
