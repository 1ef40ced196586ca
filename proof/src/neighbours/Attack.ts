/** The tools of shapes: clients, connections and a count of the answers. They all end with the attack. */
import { Agent, type IncomingMessage, request as sendRequest } from "node:http"
import { connect, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { upload } from "@weft/bench/instruments"
import { Answers } from "./Answers.ts"
import type { AttackPlan } from "./Messages.ts"

export interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Objects are sent as JSON. */
  readonly body?: string | Buffer | object
  /** Credential of this environment of the attacker, from 1. Strangers send none. */
  readonly as?: number
}

export interface Received {
  /** 0 without a response. */
  readonly status: number
  readonly text: string
}

/** Address of attackers, different from that of the innocent tenant. */
const localAddress = "127.0.0.2"

export class Attack {
  readonly plan: AttackPlan
  readonly answers = new Answers()
  readonly #host: string
  readonly #sockets = new Set<Socket>()
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 2_000, localAddress })
  #until = Number.POSITIVE_INFINITY
  #isEnded = false

  constructor(plan: AttackPlan) {
    this.plan = plan
    this.#host = new URL(plan.url).host
  }

  get host(): string {
    return this.#host
  }

  get isOver(): boolean {
    return this.#isEnded || performance.now() >= this.#until
  }

  /** Time until the end of the attack, in milliseconds. */
  get remainingMs(): number {
    return Math.max(0, this.#until - performance.now())
  }

  /** Sets the end of the attack. Connections and pending requests end then as well. */
  begin(seconds: number): void {
    this.answers.clear()
    this.#until = performance.now() + seconds * 1000
    setTimeout(() => this.end(), seconds * 1000)
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#agent.destroy()
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Sends a request, reads its response and counts the status. */
  send(sent: Sent): Promise<Received> {
    return new Promise((resolve) => {
      const finish = (status: number, text: string, answer: number | "closed" | "pending"): void => {
        this.answers.add(answer)
        resolve({ status, text })
      }
      const body = toBytes(sent.body)
      const request = sendRequest(this.plan.url + sent.path, {
        method: sent.method ?? (body === null ? "GET" : "POST"),
        agent: this.#agent,
        headers: { ...this.#headers(sent), ...(body === null ? {} : { "content-length": String(body.length) }) }
      })
      request.on("error", () => finish(0, "", this.#isEnded ? "pending" : "closed"))
      request.on("response", (response) => {
        readText(response).then(
          (text) => finish(response.statusCode ?? 0, text, response.statusCode ?? 0),
          () => finish(0, "", this.#isEnded ? "pending" : "closed")
        )
      })
      request.end(body ?? undefined)
    })
  }

  #headers({ headers = {}, body, as }: Sent): Record<string, string> {
    const isJson = typeof body === "object" && !Buffer.isBuffer(body)
    return {
      ...(isJson ? { "content-type": "application/json" } : {}),
      ...(as === undefined ? {} : { authorization: `Bearer ${this.key(as)}` }),
      ...headers
    }
  }

  /** Returns the API key of an environment of the attacker, from 1. */
  key(environment = 1): string {
    const key = this.plan.keys[environment - 1]
    if (key === undefined) throw new Error(`The shape ${this.plan.shape} has no environment ${environment}`)
    return key
  }

  /** Sends a request of the preparation, which must succeed, and returns the `data` of its response. */
  async require(sent: Sent): Promise<Readonly<Record<string, unknown>>> {
    const { status, text } = await this.send({ as: 1, ...sent })
    if (status < 200 || status >= 300) throw new Error(`${sent.path} returned ${status}: ${text.slice(0, 300)}`)
    const parsed: { readonly data?: Readonly<Record<string, unknown>> } = text === "" ? {} : JSON.parse(text)
    return parsed.data ?? {}
  }

  /** Uploads and deploys code in an environment of the attacker. */
  async deploy(project: string, source: string, environment = 1): Promise<void> {
    await upload(this.plan.url, this.key(environment), project, source)
  }

  /**
   * Opens a connection and sends `bytes`. Counts the statuses of the responses, then `closed` if the server ends the
   * connection, or `open` at the end of the attack. With `reads: false` nothing is read.
   */
  open(bytes: string | Buffer, { reads = true } = {}): Socket {
    const { hostname, port } = new URL(this.plan.url)
    const socket = connect({ host: hostname, port: Number(port), localAddress, allowHalfOpen: true })
    this.#sockets.add(socket)
    let rest = ""
    if (reads) {
      socket.on("data", (chunk: Buffer) => {
        rest = this.answers.addStatuses(rest + chunk.toString("latin1"))
      })
      socket.on("end", () => socket.end())
    }
    socket.on("error", () => undefined)
    socket.once("close", () => {
      this.#sockets.delete(socket)
      this.answers.add(this.#isEnded ? "open" : "closed")
    })
    socket.write(bytes)
    return socket
  }

  /** Resolves when the connection has ended, at the latest with the attack. */
  closed(socket: Socket): Promise<void> {
    return new Promise((resolve) => (socket.closed ? resolve() : socket.once("close", () => resolve())))
  }

  /** Runs clients that repeat `step` until the attack has ended. `turn` counts the steps of a client. */
  async clients(count: number, step: (client: number, turn: number) => Promise<unknown>): Promise<void> {
    const repeat = async (client: number): Promise<void> => {
      for (let turn = 0; !this.isOver; turn++) await step(client, turn)
    }
    await Promise.all(Array.from({ length: count }, (_, client) => repeat(client)))
  }

  /** Waits for the end of the attack. */
  async wait(): Promise<void> {
    while (!this.isOver) await sleep(50)
  }

  /** Waits, at most until the end of the attack. */
  async pause(ms: number): Promise<void> {
    const until = performance.now() + ms
    while (!this.isOver && performance.now() < until) await sleep(Math.min(50, ms))
  }
}

const toBytes = (body: Sent["body"]): Buffer | null => {
  if (body === undefined) return null
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body))
}

const readText = async (response: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of response) chunks.push(chunk)
  return Buffer.concat(chunks).toString("utf8")
}
