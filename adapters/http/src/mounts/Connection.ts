/** A connection with its held requests. It can be paused, whatever Node does with its socket. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

export interface HeldRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Groups of an IPv6 address that name a network. Its owner chooses the others freely. */
const networkGroups = 4

/** Returns the IPv4 address of the client, or the first 64 bits of its IPv6 address. Empty if it has disconnected. */
const networkOf = ({ remoteAddress = "" }: Socket): string => {
  if (remoteAddress.includes(".")) return remoteAddress
  const [start = ""] = remoteAddress.split("::")
  return start.split(":").slice(0, networkGroups).join(":")
}

export class Connection {
  readonly socket: Socket
  /** Address of the client, or of its network, with which its connections take turns. */
  readonly network: string
  /** Listener for the end of the request in progress. One per connection, so that requests allocate none. */
  readonly onEnd: () => void
  readonly held: Array<HeldRequest> = []
  isBusy = false
  isResting = false
  isWaiting = false
  /** Reads the next part of a body in the connection's turn. Null while none waits. */
  nextRead: (() => void) | null = null
  #isPaused = false

  constructor(socket: Socket, onEnd: () => void) {
    this.socket = socket
    this.network = networkOf(socket)
    this.onEnd = onEnd
  }

  pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.socket.on("resume", this.#keepPaused)
    this.socket.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.socket.off("resume", this.#keepPaused)
    this.socket.resume()
  }

  /**
   * Pauses again when Node resumes the socket, at the end of each request and whenever somebody reads a body. If a pause
   * came between the call of `resume` and its event, the stream counts as paused already and omits the event.
   */
  readonly #keepPaused = (): void => {
    this.socket.pause()
    this.socket.emit("pause")
  }

  /** True if no request is in progress or held. */
  get isIdle(): boolean {
    return !this.isBusy && this.held.length === 0
  }
}
