/** Connects sockets to checked addresses, and starts TLS on them. */
import { connect, isIP, type Socket } from "node:net"
import { connect as connectTls, getCACertificates, type TLSSocket } from "node:tls"
import { EgressFailed, type TlsOptions } from "@weft/core/adapter"
import { Effect, type Scope } from "effect"
import { isChecked, knownAddresses } from "./CheckedAddresses.ts"
import { toFailure } from "./failures.ts"

/** Maximum time of a TCP connection, and of a TLS handshake. */
export const connectMs = 10_000

export interface Place {
  /** As in a URL: an IPv6 address is in brackets. */
  readonly host: string
  readonly port: number
  /** Addresses of the host; all of them are checked. */
  readonly addresses: ReadonlyArray<string>
}

/** Connects, and destroys the socket when the scope closes. The caller must listen to its errors. */
export const dial = ({ host, port, addresses }: Place): Effect.Effect<Socket, EgressFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Socket, EgressFailed>((resume) => {
      const socket = connect({
        host: host.replace(/^\[|\]$/g, ""),
        port,
        lookup: knownAddresses(addresses),
        autoSelectFamily: true,
        allowHalfOpen: true,
        noDelay: true
      })
      // Later errors reach readers and writers in another way.
      socket.on("error", () => undefined)
      settle(socket, "connect", (failure) => {
        if (failure !== null) resume(Effect.fail(failure))
        else if (isChecked(socket, addresses)) resume(Effect.succeed(socket))
        else {
          socket.destroy()
          resume(Effect.fail(new EgressFailed({ reason: "the connection reached an address that is not checked" })))
        }
      })
      return Effect.sync(() => socket.destroy())
    }),
    (socket) => Effect.sync(() => socket.destroy()),
    { interruptible: true }
  )

/** Starts TLS on a connected socket. `certificates` are additional trusted authorities, in PEM. */
export const startTls = (
  socket: Socket,
  host: string,
  { serverName, verify, authorities, alpn }: TlsOptions,
  certificates: ReadonlyArray<string> | undefined
): Effect.Effect<TLSSocket, EgressFailed> =>
  Effect.callback((resume) => {
    const bare = host.replace(/^\[|\]$/g, "")
    const name = serverName ?? bare
    let secure: TLSSocket
    try {
      secure = connectTls({
        socket,
        host: name,
        // RFC 6066 forbids addresses in SNI.
        servername: isIP(name) === 0 ? name : "",
        rejectUnauthorized: verify,
        ...trust(authorities, certificates),
        ...(alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] })
      })
    } catch {
      resume(Effect.fail(new EgressFailed({ reason: "the options of TLS are invalid: check `ca` and the names" })))
      return
    }
    secure.on("error", () => undefined)
    settle(secure, "secureConnect", (failure) =>
      resume(failure === null ? Effect.succeed(secure) : Effect.fail(failure))
    )
    return Effect.sync(() => secure.destroy())
  })

const trust = (authorities: ReadonlyArray<string>, certificates: ReadonlyArray<string> | undefined) => {
  if (authorities.length > 0) return { ca: [...authorities] }
  return certificates === undefined ? {} : { ca: [...getCACertificates("default"), ...certificates] }
}

/** Calls back once: with null at the event, or with the failure. Destroys the socket after a failure. */
const settle = (
  socket: Socket,
  event: "connect" | "secureConnect",
  done: (failure: EgressFailed | null) => void
): void => {
  const end = (failure: EgressFailed | null): void => {
    clearTimeout(timer)
    socket.off(event, onEvent).off("error", onError).off("close", onClose)
    if (failure !== null) socket.destroy()
    done(failure)
  }
  const onEvent = (): void => end(null)
  const onError = (error: Error): void => end(toFailure(error))
  const onClose = (): void => end(new EgressFailed({ reason: "the connection was closed before the end" }))
  const timer = setTimeout(() => end(new EgressFailed({ reason: "the connection timed out" })), connectMs)
  socket.on(event, onEvent).on("error", onError).on("close", onClose)
}
