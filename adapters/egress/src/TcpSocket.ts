/**
 * A TCP socket on a socket of Node in paused mode.
 *
 * Node reads ahead at most 64 KiB. Then it stops the sender until the guest has read them.
 */
import type { Socket } from "node:net"
import { EgressFailed, type EgressSocket, type SocketBytes, type TlsOptions, type TlsSession } from "@weft/core/adapter"
import { Effect } from "effect"
import { startTls } from "./Dial.ts"
import { toFailure } from "./failures.ts"

const none = new Uint8Array()

export interface TcpOptions {
  readonly host: string
  /** Maximum time without bytes in either direction, in milliseconds. */
  readonly idleMs: number
  /** Additional trusted authorities, in PEM. */
  readonly certificates: ReadonlyArray<string> | undefined
}

export class TcpSocket implements EgressSocket {
  readonly tls: TlsSession | null
  readonly #options: TcpOptions
  #socket: Socket
  /** Bytes that exceeded the size of a read. */
  #rest: Uint8Array = none
  #failure: EgressFailed | null = null
  #isEnded = false
  #isUpgrading = false
  /** Continues the read that waits. */
  #wake: (() => void) | null = null
  #writes = 0

  constructor(socket: Socket, tls: TlsSession | null, options: TcpOptions) {
    this.tls = tls
    this.#options = options
    this.#socket = socket
    this.#listen(socket)
  }

  read(bytesMax: number): Effect.Effect<SocketBytes, EgressFailed> {
    return Effect.callback((resume) => {
      if (this.#wake !== null) {
        resume(Effect.fail(new EgressFailed({ reason: "another read of the socket is in progress" })))
        return
      }
      const attempt = (): void => {
        const result = this.#take(bytesMax)
        if (result === null) return
        this.#wake = null
        resume(result)
      }
      this.#wake = attempt
      attempt()
      return Effect.sync(() => {
        this.#wake = null
      })
    })
  }

  write(bytes: Uint8Array): Effect.Effect<void, EgressFailed> {
    return Effect.callback((resume) => {
      if (this.#failure !== null) {
        resume(Effect.fail(this.#failure))
        return
      }
      this.#writes++
      this.#socket.write(bytes, (error) => {
        this.#writes--
        resume(error === null || error === undefined ? Effect.void : Effect.fail(this.#failure ?? toFailure(error)))
      })
    })
  }

  readonly finish: Effect.Effect<void, EgressFailed> = Effect.suspend(() => {
    if (this.#failure !== null) return Effect.fail(this.#failure)
    this.#socket.end()
    return Effect.void
  })

  startTls(options: TlsOptions): Effect.Effect<TlsSession, EgressFailed> {
    return Effect.suspend(() => {
      const plain = this.#socket
      if (this.#failure !== null) return Effect.fail(this.#failure)
      if ("encrypted" in plain) return Effect.fail(new EgressFailed({ reason: "the socket uses TLS already" }))
      if (this.#rest.length > 0 || plain.readableLength > 0 || this.#writes > 0) {
        plain.destroy()
        return Effect.fail(
          new EgressFailed({
            reason: "the socket has bytes that were not read or written: TLS must start between two messages"
          })
        )
      }
      this.#isUpgrading = true
      this.#wake?.()
      plain.removeAllListeners("readable").setTimeout(0)
      return Effect.map(startTls(plain, this.#options.host, options, this.#options.certificates), (secure) => {
        this.#isUpgrading = false
        this.#socket = secure
        this.#listen(secure)
        return sessionOf(secure)
      }).pipe(Effect.tapError((failure) => Effect.sync(() => this.#fail(failure))))
    })
  }

  #listen(socket: Socket): void {
    const { idleMs } = this.#options
    const wake = (): void => this.#wake?.()
    socket
      .on("readable", wake)
      .on("end", () => {
        if (socket !== this.#socket) return
        this.#isEnded = true
        wake()
      })
      .on("error", (error) => this.#fail(toFailure(error)))
      .on("close", () => {
        if (!this.#isEnded) this.#fail(new EgressFailed({ reason: "the connection was closed before the end" }))
      })
      .setTimeout(idleMs, () => {
        this.#fail(new EgressFailed({ reason: `the socket was idle for ${idleMs} ms` }))
        socket.destroy()
      })
  }

  #fail(failure: EgressFailed): void {
    this.#failure ??= failure
    this.#wake?.()
  }

  /** Returns the result of a read, or null if it has to wait. */
  #take(bytesMax: number): Effect.Effect<SocketBytes, EgressFailed> | null {
    if (this.#isUpgrading) return Effect.succeed({ bytes: none, done: false })
    const taken: unknown = this.#rest.length > 0 ? this.#rest : this.#socket.read()
    if (taken instanceof Uint8Array) {
      this.#rest = taken.subarray(bytesMax)
      return Effect.succeed({ bytes: taken.subarray(0, bytesMax), done: false })
    }
    if (this.#isEnded) return Effect.succeed({ bytes: none, done: true })
    return this.#failure === null ? null : Effect.fail(this.#failure)
  }
}

export const sessionOf = ({ alpnProtocol }: { readonly alpnProtocol: string | false | null }): TlsSession => ({
  alpn: typeof alpnProtocol === "string" ? alpnProtocol : null
})
