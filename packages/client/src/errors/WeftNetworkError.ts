/** No complete response was received. The server may or may not have processed the request. */
export class WeftNetworkError extends Error {
  override readonly name = "WeftNetworkError"

  constructor(message: string, cause?: unknown) {
    super(message, { cause })
  }
}
