/** The socket of `node:tls`. The host performs the handshake and checks the certificate. */
import { Buffer } from "node:buffer"
import { notInFunctions } from "../refuse.ts"
import { isIP } from "./addresses.ts"
import type { TlsOptions, TlsSession } from "./Binding.ts"
import { type ConnectOptions, Socket } from "./Socket.ts"

type Text = string | Uint8Array

export interface SecureOptions {
  readonly ca?: Text | ReadonlyArray<Text> | undefined
  readonly cert?: unknown
  readonly key?: unknown
  readonly pfx?: unknown
}

export interface TlsConnectOptions extends ConnectOptions, SecureOptions {
  readonly socket?: unknown
  readonly servername?: string | undefined
  readonly rejectUnauthorized?: boolean | undefined
  readonly ALPNProtocols?: ReadonlyArray<Text> | Uint8Array | undefined
  readonly secureContext?: { readonly context?: SecureOptions } | undefined
}

const toText = (given: Text): string => (typeof given === "string" ? given : Buffer.from(given).toString("latin1"))

/** Reads names from a list, or from the format of the handshake: each after its length. */
const toProtocols = (given: TlsConnectOptions["ALPNProtocols"]): ReadonlyArray<string> => {
  if (given === undefined) return []
  if (!(given instanceof Uint8Array)) return given.map(toText)
  const names: Array<string> = []
  for (let at = 0; at < given.length; at += 1 + (given[at] ?? 0)) {
    names.push(toText(given.subarray(at + 1, at + 1 + (given[at] ?? 0))))
  }
  return names
}

const toTlsOptions = (options: TlsConnectOptions, host: string | undefined): TlsOptions => {
  const { ca, cert, key, pfx } = { ...options.secureContext?.context, ...options }
  if ((cert ?? key ?? pfx ?? null) !== null) {
    throw notInFunctions("a client certificate of tls.connect", "use another way to authenticate")
  }
  const name = options.servername ?? host
  return {
    server_name: name === undefined || name === "" ? null : name,
    verify: options.rejectUnauthorized !== false,
    authorities: ca === undefined || ca === null ? [] : [ca].flat().map((each) => toText(each)),
    alpn: toProtocols(options.ALPNProtocols)
  }
}

export class TLSSocket extends Socket {
  readonly encrypted = true
  authorized = false
  readonly authorizationError = null
  alpnProtocol: string | false | null = null
  servername: string | undefined
  readonly _handle = { _parentWrap: {} }
  readonly #options: TlsConnectOptions

  /** Takes over the connection of `socket`, if there is one. */
  constructor(socket?: unknown, options: TlsConnectOptions = {}) {
    super(options)
    this.#options = options ?? {}
    const tls = toTlsOptions(this.#options, this.#options.host)
    if (socket === undefined || socket === null) return
    if (!(socket instanceof Socket)) {
      throw notInFunctions("tls.connect over a stream that is not a socket of net", "connect to the server itself")
    }
    void this.takeOver(socket, tls)
  }

  protected override tlsOptions(host: string): TlsOptions {
    return toTlsOptions(this.#options, isIP(host) === 0 ? host : undefined)
  }

  protected override begin(session: TlsSession | null): void {
    this.authorized = this.#options.rejectUnauthorized !== false
    this.alpnProtocol = session?.alpn ?? false
    this.servername = this.#options.servername ?? this.#options.host
    super.begin(session)
    this.emit("secureConnect")
  }

  /** The certificate stays with the host, which has checked it. */
  getPeerCertificate(): object {
    return {}
  }
  getCipher(): object {
    return {}
  }
  getProtocol(): null {
    return null
  }
  getSession(): undefined {
    return undefined
  }
  isSessionReused(): boolean {
    return false
  }
  setServername(): void {}
  setSession(): void {}
  enableTrace(): void {}
  disableRenegotiation(): void {}
}
