/** Converts connection errors to messages that reveal nothing about this machine. */
import { EgressFailed } from "@weft/core/adapter"

const reasons: ReadonlyArray<readonly [RegExp, string]> = [
  [/^ECONNREFUSED$/, "the connection was refused"],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, "the connection was closed before the end"],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "the connection timed out"],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, "the host cannot be reached"],
  [/CERT|^ERR_TLS_|^UNABLE_TO_|_SSL_|^EPROTO$/, "the TLS handshake failed: certificate or protocol"],
  [/^HPE_HEADER_OVERFLOW$|^UND_ERR_HEADERS_OVERFLOW$/, "the headers of the response are too large"],
  [/^(HPE_|UND_ERR_RES_|HTTPParserError$)/, "the response is not valid HTTP"],
  [/^UND_ERR_REQ_CONTENT_LENGTH_MISMATCH$/, "the length of the request's body differs from its content-length"],
  [/^(Z_|ERR_BROTLI|ERR__ERROR_|ERR_PADDING|ZSTD_|ERR_ZSTD)/, "the body of the response cannot be decompressed"]
]

/** Converts an error to `EgressFailed`. Returns an `EgressFailed` unchanged, also if it is the cause. */
export const toFailure = (error: unknown): EgressFailed => {
  if (error instanceof EgressFailed) return error
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof EgressFailed) return cause
  // The parser names its errors, but not all of them have a code.
  const code = error instanceof Error ? String(("code" in error ? error.code : undefined) ?? error.name) : ""
  return new EgressFailed({ reason: reasons.find(([codes]) => codes.test(code))?.[1] ?? "the connection failed" })
}
