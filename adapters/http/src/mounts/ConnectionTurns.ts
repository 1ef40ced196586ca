/**
 * Turns of the connections of `node:http` servers.
 *
 * Node emits `request` for each pipelined request as soon as it is parsed, and one read of a socket holds up to 2,600
 * requests. Here a connection has one request in progress, as in Go's `net/http`. The others are held in order, and the
 * socket is paused. Held requests start one per connection and turn, and the requests of other connections come between.
 *
 * Many connections that open at once wait for turns as well, because the first read of each may hold many requests. See
 * `OpeningPace` for how many open per turn, `ConnectionQueue` for their order, and `NetworkRests` for their pauses. Once one
 * of them proves to be expensive, the others that were not read yet wait as well (`FreshConnections`).
 *
 * Bodies in chunks are also read in turns. A read of 64 KiB with 10,900 chunks takes 20 ms. So are large bodies, once they
 * exceed the budget of a turn together.
 */
import { IncomingMessage, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { Connection, type HeldRequest } from "./Connection.ts"
import { ConnectionQueue } from "./ConnectionQueue.ts"
import { FreshConnections } from "./FreshConnections.ts"
import { NetworkRests } from "./NetworkRests.ts"
import { OpeningPace } from "./OpeningPace.ts"

/** A listener for `node:http` servers. */
export type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** Maximum held requests of all connections together, about 3 KB each. Beyond it, the connection with the most is closed. */
const heldRequestsMax = 16_384

/** Held requests of a connection from which its read counts as expensive. */
const manyRequests = 16

/** Maximum held requests that start in one turn of the event loop. */
const startsPerTurn = 8

/** Maximum connections with bodies in chunks that are read in one turn of the event loop, of up to 20 ms each. */
const chunkReadsPerTurn = 1

/** Bytes of large bodies in one turn of the event loop, after which further parts are read in later turns. */
const bodyBytesPerTurn = 128 * 1024

/** Maximum connections with large bodies that are read in one turn after that, at least 64 KiB of each. */
const bodyReadsPerTurn = 1

/** Maximum new connections of a network that wait for their turn. */
const openingPerNetworkMax = 1_024

/** Interval between reads of connections that rest, in milliseconds. An expensive read takes about 20 ms. */
const restMs = 30

export class ConnectionTurns {
  readonly #start: Listener
  readonly #connections = new WeakMap<Socket, Connection>()
  /** Connections with held requests that wait for their turn, each at most once. */
  readonly #waiting = new ConnectionQueue()
  #isScheduled = false
  /** New connections that nothing has been read from. */
  readonly #opening = new ConnectionQueue(openingPerNetworkMax)
  readonly #pace = new OpeningPace()
  /** Connections that may be read for the first time in the next turn. */
  readonly #fresh = new FreshConnections()
  /** Connections with bodies in chunks whose next part is wanted. */
  readonly #reading = new ConnectionQueue()
  /** Connections with large bodies whose next part is wanted. */
  readonly #receiving = new ConnectionQueue()
  /** Bytes of large bodies that were read in this turn of the event loop. */
  #bodyBytes = 0
  /** Connections whose last read was expensive. */
  readonly #resting = new ConnectionQueue()
  #isRestTimed = false
  /** Pauses of networks after expensive reads. */
  readonly #rests = new NetworkRests()
  /** Connections that opened in this turn of the event loop. */
  #accepted = 0
  /** True while all networks with new connections pause. */
  #isOpeningTimed = false
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
    this.#accepted++
    const connection = this.#connectionOf(socket)
    const now = performance.now()
    this.#rests.arrive(connection.network, now)
    const isFirst = this.#opening.length === 0 || this.#isOpeningTimed
    const mayOpen = isFirst && this.#rests.remaining(connection.network, now) === 0
    if (mayOpen && this.#accepted <= this.#pace.opens) {
      this.#fresh.add(connection)
      return
    }
    if (mayOpen) this.#isOpeningTimed = false
    connection.pause()
    this.#opening.push(connection)
    this.#schedule()
  }

  /** Starts a request, or holds it until the earlier requests of its connection have ended. */
  enter(request: IncomingMessage, response: ServerResponse): void {
    // The streams of HTTP/2 have a limit of their own and no common order.
    const connection = request instanceof IncomingMessage ? this.#connectionOf(request.socket) : null
    if (connection !== null) this.#fresh.delete(connection)
    if (connection === null) this.#start(request, response)
    else if (connection.isIdle) this.#begin(connection, { request, response })
    else this.#hold(connection, { request, response })
  }

  /** True while a request of the connection has no complete response. */
  isAnswering(socket: Socket): boolean {
    const connection = this.#connections.get(socket)
    return connection !== undefined && !connection.isIdle
  }

  /** Pauses a connection, because its last read was expensive. One such connection is read every 30 ms. */
  rest(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    this.#beginRest(connection)
    if (connection.isResting) return
    connection.isResting = true
    connection.pause()
    this.#resting.push(connection)
    this.#timeRest()
  }

  /** Pauses a connection until its turn, and calls `read` then. */
  readInTurn(socket: Socket, read: () => void): void {
    this.#awaitRead(this.#reading, socket, read)
  }

  /** Counts bytes of a large body that were read. */
  countBody(bytes: number): void {
    if (this.#bodyBytes === 0) {
      setImmediate(() => {
        this.#bodyBytes = 0
      })
    }
    this.#bodyBytes += bytes
  }

  /** Calls `read` for a large body: at once, or in the connection's turn if much was read in this turn of the event loop. */
  readBody(socket: Socket, read: () => void): void {
    if (this.#bodyBytes < bodyBytesPerTurn) read()
    else this.#awaitRead(this.#receiving, socket, read)
  }

  #awaitRead(queue: ConnectionQueue, socket: Socket, read: () => void): void {
    const connection = this.#connectionOf(socket)
    const isQueued = connection.nextRead !== null
    connection.nextRead = read
    if (isQueued) return
    connection.pause()
    queue.push(connection)
    this.#schedule()
  }

  /** After an expensive first read, the others that were not read yet wait: each may be as expensive. */
  #beginRest({ network }: Connection): void {
    this.#rests.begin(network, performance.now())
    for (const fresh of this.#fresh.takeAll()) {
      fresh.pause()
      this.#opening.push(fresh)
    }
    if (this.#opening.length > 0) this.#schedule()
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
    if (count === manyRequests) this.#beginRest(connection)
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
    this.#fresh.delete(connection)
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
    this.#readNext(this.#reading, chunkReadsPerTurn)
    this.#readNext(this.#receiving, bodyReadsPerTurn)
    this.#open()
    const isWaiting = this.#waiting.length > 0 || this.#reading.length > 0 || this.#receiving.length > 0
    if (isWaiting || (this.#opening.length > 0 && !this.#isOpeningTimed)) this.#schedule()
  }

  #readNext(queue: ConnectionQueue, readsMax: number): void {
    for (let reads = 0; reads < readsMax; reads++) {
      const connection = queue.next()
      if (connection === undefined) return
      const read = connection.nextRead
      connection.nextRead = null
      this.#resume(connection)
      read?.()
    }
  }

  /** Resumes the connection if nothing else pauses it. */
  #resume(connection: Connection): void {
    if (connection.held.length === 0 && !connection.isResting && connection.nextRead === null) connection.resume()
  }

  /** Opens connections, or waits if all their networks pause. */
  #open(): void {
    if (this.#opening.length === 0 || this.#isOpeningTimed) return
    const now = performance.now()
    const remaining = (network: string): number => this.#rests.remaining(network, now)
    for (let opened = 0; opened < this.#pace.opens; opened++) {
      const connection = this.#opening.next((network) => remaining(network) > 0)
      if (connection === undefined) break
      connection.resume()
      this.#fresh.add(connection)
    }
    const pauseMs = Math.min(...Array.from(this.#opening.networks, remaining))
    this.#pace.endTurn(pauseMs > 0)
    if (pauseMs > 0 && pauseMs < Number.POSITIVE_INFINITY) this.#openAfter(pauseMs)
  }

  #openAfter(ms: number): void {
    this.#isOpeningTimed = true
    setTimeout(() => {
      this.#isOpeningTimed = false
      this.#schedule()
    }, Math.ceil(ms))
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
    this.#resume(connection)
  }
}
