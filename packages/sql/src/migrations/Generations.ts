/** Generations of releases that have used this database, so that an older release can refuse it. */
export const generations: ReadonlyArray<string> = ["CREATE TABLE generations (generation INTEGER PRIMARY KEY)"]
