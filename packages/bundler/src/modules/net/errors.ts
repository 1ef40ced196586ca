/** Errors of sockets with the codes of Node, by which clients decide about a reconnection. */
import { NotInFunctions } from "../refuse.ts"

const codes: ReadonlyArray<readonly [RegExp, string]> = [
  [/refused$/, "ECONNREFUSED"],
  [/timed out$|was idle for/, "ETIMEDOUT"],
  [/has no address$|could not be looked up$/, "ENOTFOUND"],
  [/cannot be reached$/, "EHOSTUNREACH"],
  [/^the TLS handshake failed/, "ERR_TLS_HANDSHAKE"],
  [/allowed here$|allows no |may open at most|its maximum$/, "EACCES"]
]

export class SocketError extends Error {
  readonly code: string
  readonly syscall: string

  constructor(message: string, code: string, syscall: string) {
    super(message)
    this.code = code
    this.syscall = syscall
  }
}

/** Converts a failure of a host call. An error that names a missing feature stays as it is. */
export const toSocketError = (error: unknown, syscall: string): Error => {
  if (error instanceof NotInFunctions) return error
  const reason = error instanceof Error ? error.message.replace(/^connect failed: /, "") : String(error)
  const code = codes.find(([pattern]) => pattern.test(reason))?.[1] ?? "ECONNRESET"
  return new SocketError(`${syscall} ${code}: ${reason}`, code, syscall)
}
