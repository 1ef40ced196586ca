/** The TXT records of our validation zone, which the host keeps in whatever DNS it has. */

export interface TxtRecords {
  /**
   * Adds a record beside those that may be at the name; several values of one name can be needed at once. Resolves
   * when the zone's name servers serve it.
   */
  readonly put: (name: string, value: string) => Promise<void>
  /** Removes the record of that value, if it is there. */
  readonly remove: (name: string, value: string) => Promise<void>
}
