/** A failure that the user can correct. It crosses the border of `hosting` as a plain error. */
export class BackupError extends Error {
  readonly remedy: string | null

  constructor(message: string, remedy: string | null = null) {
    super(message)
    this.name = "BackupError"
    this.remedy = remedy
  }
}
