/**
 * Turns of the connections of `node:http` servers.
 *
 * Node emits `request` for each pipelined request as soon as it is parsed, and one read of a socket holds up to 2,600
 * requests. Here a connection has one request in progress, as in Go's `net/http`. The others are held in order, and the
 * socket is paused. Held requests start one per connection and turn, and the requests of other connections come between.
 *
 * Many connections that open at once wait for turns as well, because the first read of each may hold many requests. For a
 * second after an expensive read, one connection opens per turn. Connections that the kernel holds are accepted first then.
 * Otherwise a new client would wait for all before it.
 */
import { IncomingMessage, type ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** A listener for `node:http` servers. */
export type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** Maximum held requests of all connections together, about 3 KB each. Beyond it, the connection with the most is closed. */
const heldRequestsMax = 16_384

/** Maximum connections that are read at once if they open in the same turn of the event loop. */
const acceptsPerTurn = 2

/** Held requests of a connection from which its read counts as expensive. */
const manyRequests = 16

/** Maximum turns in which new connections are only accepted, after an expensive read. */
const acceptTurnsMax = 100

/** Maximum held requests that start in one turn of the event loop. */
const startsPerTurn = 8

/** Maximum new connections that are opened in one turn of the event loop, because their first reads may hold many requests. */
const opensPerTurn = 2

/** Interval between reads of connections that rest, in milliseconds. An expensive read takes about 20 ms. */
const restMs = 30

/** Time after an expensive read in which one connection opens per turn, in milliseconds. */
const suspicionMs = 1_000

export class ConnectionTurns {
  readonly #start: Listener
  readonly #connections = new WeakMap<Socket, Connection>()
  /** Connections with held requests that wait for their turn, each at most once. */
  readonly #waiting = new ConnectionQueue()
  #isScheduled = false
  /** New connections that nothing has been read from. */
  readonly #opening = new ConnectionQueue()
  /** Connections whose last read was expensive. */
  readonly #resting = new ConnectionQueue()
  #isRestTimed = false
  /** For a while after an expensive read. */
  readonly #suspicion = new Period(suspicionMs)
  /** Connections that opened in this turn of the event loop. */
  #accepted = 0
  /** True if a connection was accepted since the last turn, and the number of turns in a row in which none was opened. */
  #isAccepting = false
  #acceptTurns = 0
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
    this.#isAccepting = true
    if (++this.#accepted <= acceptsPerTurn && !this.#suspicion.isNow) return
    const connection = this.#connectionOf(socket)
    connection.pause()
    this.#opening.push(connection)
    this.#schedule()
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
    this.#suspicion.begin()
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
      const connection = this.#resting.next()
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
    const count = connection.held.push(held)
    if (count === manyRequests) this.#suspicion.begin()
    if (count === 1) {
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
    for (let starts = 0; starts < startsPerTurn; starts++) {
      const connection = this.#waiting.next()
      if (connection === undefined) break
      this.#takeTurn(connection)
    }
    this.#open()
    if (this.#waiting.length > 0 || this.#opening.length > 0) this.#schedule()
  }

  #open(): void {
    const isSuspicious = this.#suspicion.isNow
    const isDeferred = isSuspicious && this.#isAccepting && this.#acceptTurns < acceptTurnsMax
    this.#isAccepting = false
    this.#acceptTurns = isDeferred ? this.#acceptTurns + 1 : 0
    if (isDeferred) return
    const opens = isSuspicious ? 1 : opensPerTurn
    for (let opened = 0; opened < opens; opened++) this.#opening.next()?.resume()
  }

  #takeTurn(connection: Connection): void {
    const { socket, held } = connection
    connection.isWaiting = false
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

/** Connections in turns. Every second turn belongs to the newest one, which a flood of older ones would delay for long. */
class ConnectionQueue {
  readonly #connections: Array<Connection> = []
  #isNewestNext = false

  get length(): number {
    return this.#connections.length
  }

  push(connection: Connection): void {
    this.#connections.push(connection)
  }

  /** Removes and returns the next connection that is not closed. */
  next(): Connection | undefined {
    while (this.#connections.length > 0) {
      this.#isNewestNext = !this.#isNewestNext
      const connection = this.#isNewestNext ? this.#connections.pop() : this.#connections.shift()
      if (connection?.socket.destroyed === false) return connection
    }
    return undefined
  }
}

/** A period of time that each beginning extends. */
class Period {
  readonly #ms: number
  #timer: NodeJS.Timeout | null = null

  constructor(ms: number) {
    this.#ms = ms
  }

  get isNow(): boolean {
    return this.#timer !== null
  }

  begin(): void {
    if (this.#timer !== null) {
      this.#timer.refresh()
      return
    }
    this.#timer = setTimeout(() => {
      this.#timer = null
    }, this.#ms).unref()
  }
}

class Connection {
  readonly socket: Socket
  /** Listener for the end of the request in progress. One per connection, so that requests allocate none. */
  readonly onEnd: () => void
  readonly held: Array<HeldRequest> = []
  isBusy = false
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
