/**
 * Turns of the connections of `node:http` servers.
 *
 * Node emits `request` for each pipelined request as soon as it is parsed, and one read of a socket holds up to 2,600
 * requests. Here a connection has one request in progress, as in Go's `net/http`. The others are held in order, and the
 * socket is paused. Held requests start one per connection and turn, and the requests of other connections come between.
 *
 * Many connections that open at once wait for turns as well, because the first read of each may hold many requests.
 */
import { IncomingMessage, type ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** A listener for `node:http` servers. */
export type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** Maximum held requests of all connections together, about 3 KB each. Beyond it, the connection with the most is closed. */
const heldRequestsMax = 16_384

/** Connections that are read at once if they open in the same turn of the event loop. */
const acceptsPerTurn = 8

/** Maximum held requests that start in one turn of the event loop. */
const startsPerTurn = 8

/** A new connection counts as so many requests, because its first read may hold many. */
const startsPerAccept = 4

/** Interval between reads of connections whose last read was expensive, in milliseconds. Such a read takes about 20 ms. */
const restMs = 30

export class ConnectionTurns {
  readonly #start: Listener
  readonly #connections = new WeakMap<Socket, Connection>()
  /** Connections that wait for their turn, each at most once. */
  readonly #waiting: Array<Connection> = []
  #isScheduled = false
  /** Connections whose last read was expensive. */
  readonly #resting: Array<Connection> = []
  #isRestTimed = false
  /** Connections that opened in this turn of the event loop. */
  #accepted = 0
  /** True if the newest waiting connection is next, not the oldest. */
  #isNewestNext = false
  readonly #holding = new Set<Connection>()
  #heldRequests = 0

  /** `start` begins a request. A request ends with the event `close` of its response. */
  constructor(start: Listener) {
    this.#start = start
  }

  /** Begins a new connection: at once, or in its turn if many others opened in this turn of the event loop. */
  accept(socket: Socket): void {
    if (this.#accepted === 0) {
      setImmediate(() => {
        this.#accepted = 0
      })
    }
    if (++this.#accepted <= acceptsPerTurn) return
    const connection = this.#connectionOf(socket)
    connection.isNew = true
    connection.pause()
    this.#enqueue(connection)
  }

  /** Starts a request, or holds it until the earlier requests of its connection have ended. */
  enter(request: IncomingMessage, response: ServerResponse): void {
    // The streams of HTTP/2 have a limit of their own and no common order.
    const connection = request instanceof IncomingMessage ? this.#connectionOf(request.socket) : null
    if (connection === null) this.#start(request, response)
    else if (isIdle(connection)) this.#begin(connection, { request, response })
    else this.#hold(connection, { request, response })
  }

  /** True while a request of the connection has no complete response. */
  isAnswering(socket: Socket): boolean {
    const connection = this.#connections.get(socket)
    return connection !== undefined && !isIdle(connection)
  }

  /** Pauses a connection, because its last read was expensive. One such connection is read every 30 ms. */
  rest(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined || connection.isResting) return
    connection.isResting = true
    connection.pause()
    this.#resting.push(connection)
    this.#timeRest()
  }

  #timeRest(): void {
    if (this.#isRestTimed || this.#resting.length === 0) return
    this.#isRestTimed = true
    setTimeout(() => {
      this.#isRestTimed = false
      const connection = this.#resting.shift()
      if (connection !== undefined) {
        connection.isResting = false
        this.#enqueue(connection)
      }
      this.#timeRest()
    }, restMs)
  }

  #connectionOf(socket: Socket): Connection {
    const known = this.#connections.get(socket)
    if (known !== undefined) return known
    const connection: Connection = new Connection(socket, () => {
      connection.isBusy = false
      if (connection.held.length > 0) this.#enqueue(connection)
    })
    socket.once("close", () => this.#discard(connection))
    this.#connections.set(socket, connection)
    return connection
  }

  #begin(connection: Connection, { request, response }: HeldRequest): void {
    connection.isBusy = true
    response.once("close", connection.onEnd)
    this.#start(request, response)
  }

  #hold(connection: Connection, held: HeldRequest): void {
    // The rest of a read that is parsed after the socket was closed.
    if (connection.socket.destroyed) return
    if (connection.held.push(held) === 1) {
      this.#holding.add(connection)
      connection.pause()
    }
    this.#heldRequests++
    if (this.#heldRequests > heldRequestsMax) this.#closeLargest(connection)
  }

  #closeLargest(candidate: Connection): void {
    let largest = candidate
    for (const connection of this.#holding) if (connection.held.length > largest.held.length) largest = connection
    this.#discard(largest)
    largest.socket.destroy()
  }

  #discard(connection: Connection): void {
    this.#heldRequests -= connection.held.length
    connection.held.length = 0
    this.#holding.delete(connection)
  }

  #enqueue(connection: Connection): void {
    if (!connection.isWaiting) this.#waiting.push(connection)
    connection.isWaiting = true
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#takeTurns())
  }

  #takeTurns(): void {
    this.#isScheduled = false
    let starts = 0
    while (starts < startsPerTurn) {
      // Every second turn belongs to the newest connection, which a flood of older ones would delay for long.
      this.#isNewestNext = !this.#isNewestNext
      const connection = this.#isNewestNext ? this.#waiting.pop() : this.#waiting.shift()
      if (connection === undefined) return
      starts += connection.isNew ? startsPerAccept : 1
      this.#takeTurn(connection)
    }
    if (this.#waiting.length > 0) this.#schedule()
  }

  #takeTurn(connection: Connection): void {
    const { socket, held } = connection
    connection.isWaiting = false
    connection.isNew = false
    // A response that closes the connection is the last one. The client repeats the other requests (RFC 9112, 9.3.2).
    if (socket.destroyed || socket.writableEnded) {
      this.#discard(connection)
      return
    }
    const next = connection.isBusy ? undefined : held.shift()
    if (next !== undefined) {
      this.#heldRequests--
      this.#begin(connection, next)
    }
    if (held.length > 0) return
    this.#holding.delete(connection)
    if (!connection.isResting) connection.resume()
  }
}

interface HeldRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

class Connection {
  readonly socket: Socket
  /** Listener for the end of the request in progress. One per connection, so that requests allocate none. */
  readonly onEnd: () => void
  readonly held: Array<HeldRequest> = []
  isBusy = false
  isNew = false
  isResting = false
  isWaiting = false
  #isPaused = false

  constructor(socket: Socket, onEnd: () => void) {
    this.socket = socket
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
}

const isIdle = ({ isBusy, held }: Connection): boolean => !isBusy && held.length === 0
