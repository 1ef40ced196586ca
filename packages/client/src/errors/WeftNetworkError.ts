/** There was no answer, or it broke off: whether the server did what it was asked to is not known. */
export class WeftNetworkError extends Error {
  override readonly name = "WeftNetworkError"

  constructor(message: string, cause?: unknown) {
    super(message, { cause })
  }
}
