/** The TXT records of the validation zone, in the DNS of the host. */

export interface TxtRecords {
  /**
   * Adds a record and keeps existing records of the name: several values may be needed at once. Resolves when the name
   * servers of the zone serve it.
   */
  readonly put: (name: string, value: string) => Promise<void>
  /** Removes the record of that value, if it exists. */
  readonly remove: (name: string, value: string) => Promise<void>
}
