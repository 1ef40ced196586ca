/** The server that requests of guests reach: it replies with a description of the request, or with a fixed response. */
import { type HostCall, HostCallRefused } from "@weft/core/adapter"
import { Effect, Schema } from "effect"
import type { Reply } from "./Case.ts"

const Sent = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.Finite,
    method: Schema.String,
    url: Schema.String,
    headers: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
    body: Schema.NullOr(
      Schema.Union([Schema.Struct({ bytes: Schema.String }), Schema.Struct({ length: Schema.NullOr(Schema.Finite) })])
    )
  })
)

const Written = Schema.fromJsonString(Schema.Struct({ id: Schema.Finite, bytes: Schema.String, done: Schema.Boolean }))
const Read = Schema.fromJsonString(Schema.Struct({ id: Schema.Finite, max: Schema.Finite, text: Schema.Boolean }))

interface Exchange {
  readonly sent: typeof Sent.Type
  readonly chunks: Array<Buffer>
  respond: (head: string) => void
  body: Buffer
}

export class Upstream {
  readonly #reply: Reply | undefined
  readonly #exchanges = new Map<number, Exchange>()

  constructor(reply: Reply | undefined) {
    this.#reply = reply
  }

  readonly onHostCall = ({ op, payload }: HostCall): Effect.Effect<string, HostCallRefused> => {
    if (op === "fetch.send") return Effect.promise(() => this.#send(Schema.decodeUnknownSync(Sent)(payload)))
    if (op === "fetch.write") return Effect.sync(() => this.#write(Schema.decodeUnknownSync(Written)(payload)))
    if (op === "fetch.read") return Effect.sync(() => this.#read(Schema.decodeUnknownSync(Read)(payload)))
    return op === "fetch.cancel"
      ? Effect.succeed("null")
      : Effect.fail(new HostCallRefused({ name: "NotFound", message: `${op} is not part of this proof` }))
  }

  #send(sent: typeof Sent.Type): Promise<string> {
    return new Promise((respond) => {
      const exchange: Exchange = { sent, chunks: [], respond, body: Buffer.alloc(0) }
      this.#exchanges.set(sent.id, exchange)
      if (sent.body === null) this.#respond(exchange)
      else if ("bytes" in sent.body) {
        exchange.chunks.push(Buffer.from(sent.body.bytes, "base64"))
        this.#respond(exchange)
      }
    })
  }

  #write({ id, bytes, done }: typeof Written.Type): string {
    const exchange = this.#exchanges.get(id)
    exchange?.chunks.push(Buffer.from(bytes, "base64"))
    if (done && exchange !== undefined) this.#respond(exchange)
    return "true"
  }

  #respond(exchange: Exchange): void {
    const { method, url, headers } = exchange.sent
    const {
      status = 200,
      headers: more = {},
      body
    } = this.#reply ?? {
      body: { method, url, headers: Object.fromEntries(headers), body: Buffer.concat(exchange.chunks).toString() }
    }
    exchange.body = Buffer.from(typeof body === "string" ? body : JSON.stringify(body))
    const type = typeof body === "string" ? "text/plain" : "application/json"
    exchange.respond(
      JSON.stringify({
        status,
        status_text: status === 200 ? "OK" : "",
        url,
        redirected: false,
        headers: Object.entries({ "content-type": type, ...more })
      })
    )
  }

  #read({ id, text }: typeof Read.Type): string {
    const body = this.#exchanges.get(id)?.body ?? Buffer.alloc(0)
    this.#exchanges.delete(id)
    return JSON.stringify({ bytes: text ? body.toString() : body.toString("base64"), done: true })
  }
}
