/**
 * A WebSocket on `ws`, over a connection that is open already.
 *
 * It reads ahead at most `unreadBytesMax` bytes and a message; then it stops the sender. It compresses nothing, so a message
 * is not larger than it was sent.
 */
import type { Socket } from "node:net"
import {
  EgressFailed,
  type EgressWebSocket,
  type HeaderList,
  type WebSocketEnd,
  type WebSocketMessage
} from "@weft/core/adapter"
import { Effect, type Scope } from "effect"
import { WebSocket } from "ws"
import { connectMs } from "./Dial.ts"
import { toFailure } from "./failures.ts"

const unreadBytesMax = 256 * 1024
/** Overhead of an unread message in memory, in bytes. */
const messageOverhead = 128
/** Maximum unread messages. One chunk of a connection may contain tens of thousands of tiny ones. */
const unreadMessagesMax = 8192
/** Maximum time of the closing handshake, in milliseconds. */
const closeMs = 5000

export interface WebSocketOptions {
  readonly url: URL
  readonly protocols: ReadonlyArray<string>
  readonly headers: HeaderList
  readonly messageBytes: number
  /** Maximum time without bytes in either direction, in milliseconds. */
  readonly idleMs: number
}

/** Performs the opening handshake. The connection closes with the scope. */
export const openWebSocket = (
  connection: Socket,
  options: WebSocketOptions
): Effect.Effect<EgressWebSocket, EgressFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<OpenWebSocket, EgressFailed>((resume) => {
      const { url, protocols, headers, messageBytes } = options
      const settings = {
        createConnection: () => connection,
        headers: joinHeaders(headers),
        perMessageDeflate: false,
        maxPayload: messageBytes,
        handshakeTimeout: connectMs,
        closeTimeout: closeMs
      }
      let socket: WebSocket
      try {
        socket = new WebSocket(url, [...protocols], settings)
      } catch {
        resume(failed("the URL or the subprotocols are invalid"))
        return
      }
      const open = new OpenWebSocket(socket, connection, options)
      socket.on("unexpected-response", (_request, { statusCode }) => {
        resume(failed(`the server answered the handshake with the status ${statusCode}`))
        socket.terminate()
      })
      socket.on("error", (error) =>
        resume("code" in error ? Effect.fail(toFailure(error)) : failed("the server did not accept the WebSocket"))
      )
      socket.on("open", () => {
        open.start(options.idleMs)
        resume(Effect.succeed(open))
      })
      return Effect.sync(() => socket.terminate())
    }),
    (open) => Effect.sync(() => open.leave()),
    { interruptible: true }
  )

const failed = (reason: string) => Effect.fail(new EgressFailed({ reason }))

const joinHeaders = (headers: HeaderList): Record<string, string> => {
  const joined: Record<string, string> = Object.create(null)
  for (const [name, value] of headers) {
    const before = joined[name]
    joined[name] = before === undefined ? value : `${before}${name === "cookie" ? "; " : ", "}${value}`
  }
  return joined
}

class OpenWebSocket implements EgressWebSocket {
  readonly messageBytes: number
  readonly #socket: WebSocket
  readonly #connection: Socket
  #unread: Array<WebSocketMessage> = []
  #unreadBytes = 0
  #end: WebSocketEnd | null = null
  /** Continues the call of `receive` that waits. */
  #wake: (() => void) | null = null

  constructor(socket: WebSocket, connection: Socket, { messageBytes }: WebSocketOptions) {
    this.messageBytes = messageBytes
    this.#socket = socket
    this.#connection = connection
    socket.on("message", (data, isBinary) => this.#add(data, isBinary))
    socket.on("close", (code, reason) => {
      this.#end = { code, reason: reason.toString(), isClean: code !== 1006 }
      this.#wake?.()
    })
  }

  /** Begins to limit the connection, after the handshake. */
  start(idleMs: number): void {
    this.#connection.setTimeout(idleMs, () => this.#connection.destroy())
    // Reads one chunk in each turn of the event loop, so that a flood of tiny frames delays no other connection.
    this.#connection.on("data", () => {
      this.#socket.pause()
      setImmediate(() => this.#resume())
    })
  }

  get protocol(): string {
    return this.#socket.protocol
  }

  receive(bytesMax: number): Effect.Effect<ReadonlyArray<WebSocketMessage> | WebSocketEnd> {
    return Effect.callback((resume) => {
      const attempt = (): void => {
        const result = this.#unread.length > 0 ? this.#take(bytesMax) : this.#end
        if (result === null) return
        this.#wake = null
        resume(Effect.succeed(result))
      }
      this.#wake = attempt
      attempt()
      return Effect.sync(() => {
        this.#wake = null
      })
    })
  }

  send({ isBinary, bytes }: WebSocketMessage): Effect.Effect<void, EgressFailed> {
    return Effect.callback((resume) => {
      if (this.#socket.readyState !== WebSocket.OPEN) {
        resume(Effect.void)
        return
      }
      this.#socket.send(bytes, { binary: isBinary }, (error) =>
        resume(error === null || error === undefined ? Effect.void : Effect.fail(toFailure(error)))
      )
    })
  }

  close(code: number | null, reason: string): Effect.Effect<void> {
    return Effect.sync(() => {
      if (code === null) this.#socket.close()
      else this.#socket.close(code, reason)
    })
  }

  /** Closes the connection at once, and reports to the peer that the client goes away. */
  leave(): void {
    this.#socket.removeAllListeners("message")
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.close(1001)
    this.#connection.destroy()
  }

  #add(data: WebSocket.RawData, isBinary: boolean): void {
    if (!(data instanceof Uint8Array)) return
    if (this.#unread.length === unreadMessagesMax) {
      this.#socket.terminate()
      return
    }
    // A copy: a message is a part of a larger chunk, which it would keep in memory.
    this.#unread.push({ isBinary, bytes: new Uint8Array(data) })
    this.#unreadBytes += data.length + messageOverhead
    this.#wake?.()
  }

  #resume(): void {
    if (this.#unreadBytes <= unreadBytesMax) this.#socket.resume()
  }

  #take(bytesMax: number): ReadonlyArray<WebSocketMessage> {
    let count = 0
    let length = 0
    for (const { bytes } of this.#unread) {
      if (count > 0 && length + bytes.length > bytesMax) break
      length += bytes.length + messageOverhead
      count++
    }
    const taken = this.#unread.splice(0, count)
    this.#unreadBytes -= taken.reduce((total, { bytes }) => total + bytes.length + messageOverhead, 0)
    this.#resume()
    return taken
  }
}
