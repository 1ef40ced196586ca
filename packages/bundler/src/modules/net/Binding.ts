/** The connections of the sandbox, on which `node:net`, `node:tls` and `cloudflare:sockets` stand. */
import { notInFunctions } from "../refuse.ts"

export interface TlsOptions {
  readonly server_name: string | null
  readonly verify: boolean
  readonly authorities: ReadonlyArray<string>
  readonly alpn: ReadonlyArray<string>
}

export interface TlsSession {
  readonly alpn: string | null
}

export interface Connection {
  readonly open: (hostname: string, port: number, tls: TlsOptions | null) => Promise<TlsSession | null>
  /** Returns no bytes if TLS starts meanwhile, and null at the end of the stream. */
  readonly read: () => Promise<Uint8Array | null>
  readonly write: (bytes: Uint8Array, isLast: boolean) => Promise<void>
  readonly startTls: (tls: TlsOptions) => Promise<TlsSession>
  readonly close: () => void
}

interface Binding {
  readonly connect: (...args: ReadonlyArray<unknown>) => unknown
  readonly Connection: new (onRunEnd: () => void) => Connection
}

/** Returns the binding. Servers before this release have none. */
export const binding = (): Binding => {
  const found: Binding | undefined = Reflect.get(globalThis, "weft:sockets")
  if (found === undefined) throw notInFunctions("net.connect", "the server must have a release with TCP sockets")
  return found
}
