/** Strangers at the HTTP front: connections, heads and bodies. */
import { randomBytes } from "node:crypto"
import type { Attack } from "../Attack.ts"
import { echoPath, type Shape } from "../Shape.ts"
import { head, openHead, openMany, pipeline, writeAll } from "./Connections.ts"

const stranger = { attacker: "stranger", room: "http front" } as const

/** Bytes of a body that is sent in chunks of one byte. */
const chunkedBytes = 64 * 1024

/** Chunks of one byte each, about 200 in a write. */
const byteChunks = "1\r\nx\r\n".repeat(200)

const chunked = async (attack: Attack, line: string): Promise<void> =>
  attack.clients(50, async () => {
    const socket = attack.open(head(attack, line, ["transfer-encoding: chunked", "connection: close"]))
    await writeAll(attack, socket, Array<string>(Math.ceil(chunkedBytes / 200)).fill(byteChunks))
    socket.write("0\r\n\r\n")
    await attack.closed(socket)
  })

/** Pipelines 5,000 requests on each of 8 connections. */
const pipelined = (name: string, path: string, sees: Shape["sees"], headers: ReadonlyArray<string> = []): Shape => ({
  ...stranger,
  name: `pipelined-${name}`,
  sends: `8 connections send 5,000 requests for \`${path}\` each, without waiting for answers`,
  sees,
  attack: (attack) => pipeline(attack, { connections: 8, depth: 5_000, request: head(attack, `GET ${path}`, headers) })
})

const crowd = (name: string, count: number, sends: string, bytes: (attack: Attack) => string): Shape => ({
  ...stranger,
  name,
  sends: `${count.toLocaleString("en-US")} connections ${sends}`,
  sees: ["open", "closed", 100, 400],
  attack: async (attack) => {
    await openMany(attack, count, () => attack.open(bytes(attack)))
    await attack.wait()
  }
})

/** Sends one byte a second on each connection. */
const slow = (name: string, count: number, sends: string, begin: (attack: Attack) => string, byte: string): Shape => ({
  ...stranger,
  name,
  sends: `${count.toLocaleString("en-US")} connections ${sends}, one byte a second`,
  sees: ["open", "closed", 400],
  attack: async (attack) => {
    const sockets = await openMany(attack, count, () => attack.open(begin(attack)))
    while (!attack.isOver) {
      for (const socket of sockets) if (socket.writable) socket.write(byte)
      await attack.pause(1_000)
    }
  }
})

const repeated = (
  name: string,
  sends: string,
  sees: Shape["sees"],
  bytes: (attack: Attack) => string | Buffer
): Shape => ({
  ...stranger,
  name,
  sends: `32 clients repeat ${sends}`,
  sees,
  attack: (attack) => attack.clients(32, () => attack.closed(attack.open(bytes(attack))))
})

export const httpShapes: ReadonlyArray<Shape> = [
  {
    ...stranger,
    name: "chunked-404",
    sends: "50 connections send 64 KiB in chunks of 1 byte to a route that does not exist",
    sees: [404, "closed", "open"],
    attack: (attack) => chunked(attack, "POST /v1/nowhere")
  },
  {
    ...stranger,
    name: "chunked-webhook",
    sends: "50 connections send 64 KiB in chunks of 1 byte to a webhook",
    sees: [200, 400, 503, "closed", "open"],
    attack: (attack) => chunked(attack, `POST ${echoPath}`)
  },
  pipelined("openapi", "/v1/openapi.json", [200, "closed", "open"]),
  pipelined("docs", "/docs", [200, "closed", "open"]),
  pipelined("metrics", "/metrics", [200, "closed", "open"]),
  pipelined("health", "/healthz", [200, "closed", "open"]),
  pipelined("404", "/v1/nowhere", [404, "closed", "open"]),
  pipelined("401", "/v1/runs", [401, "closed", "open"]),
  pipelined("unknown-webhook", "/webhook/default/attacker-1/none/x", [404, "closed", "open"]),
  slow(
    "slow-headers",
    1_000,
    "send a head",
    (attack) => openHead(attack, "GET /v1/status", ["x-slow: "]).trimEnd(),
    "x"
  ),
  slow(
    "slow-bodies",
    1_000,
    "send a body to a webhook",
    (attack) => head(attack, `POST ${echoPath}`, ["content-length: 100000"]),
    "x"
  ),
  crowd("idle-connections", 2_000, "send nothing", () => ""),
  crowd("half-heads", 2_000, "send half of a head", (attack) => openHead(attack, "GET /v1/status")),
  crowd("expected-continue", 1_000, "wait for `100 Continue` and send no body", (attack) =>
    head(attack, `POST ${echoPath}`, ["content-length: 100000", "expect: 100-continue"])
  ),
  {
    ...stranger,
    name: "connections-exhausted",
    sends: "10,500 connections, above the limit of the server, that send nothing",
    sees: ["open", "closed"],
    attack: async (attack) => {
      await openMany(attack, 10_500, () => attack.open(""))
      await attack.wait()
    }
  },
  {
    ...stranger,
    name: "half-open",
    sends: "64 clients repeat: they send half of a head and shut down their side of the connection",
    sees: [400, "closed", "open"],
    attack: (attack) =>
      attack.clients(64, async () => {
        const socket = attack.open(openHead(attack, "GET /v1/status"))
        socket.end()
        await attack.closed(socket)
      })
  },
  {
    ...stranger,
    name: "connection-churn",
    sends: "64 clients open connections and reset them at once",
    sees: ["closed", "open"],
    attack: (attack) =>
      attack.clients(64, async () => {
        const socket = attack.open("")
        await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve))
        socket.resetAndDestroy()
        await attack.closed(socket)
      })
  },
  {
    ...stranger,
    name: "aborted-requests",
    sends: "64 clients send requests to a webhook and reset the connection before the answer",
    sees: ["closed", "open"],
    attack: (attack) =>
      attack.clients(64, async () => {
        const socket = attack.open(head(attack, `POST ${echoPath}`, ["content-length: 0"]), { reads: false })
        await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve))
        await attack.pause(1)
        socket.resetAndDestroy()
        await attack.closed(socket)
      })
  },
  repeated("huge-headers", "a head of 1 MiB", [400, "closed", "open"], (attack) =>
    head(attack, "GET /v1/status", [`x-huge: ${"x".repeat(1024 * 1024)}`])
  ),
  repeated("many-headers", "a head of 1,000 fields", [400, "closed", "open"], (attack) =>
    head(attack, "GET /v1/status", Array<string>(1_000).fill("x: y"))
  ),
  repeated("garbage", "64 KiB of random bytes", [400, "closed", "open"], () => randomBytes(64 * 1024)),
  repeated("tls-handshakes", "the start of a TLS handshake on the port for HTTP", [400, "closed", "open"], () =>
    Buffer.concat([Buffer.from("160301020001000001fc0303", "hex"), randomBytes(508)])
  ),
  repeated("many-parameters", "a webhook's URL with 4,000 query parameters", [200, "closed", "open"], (attack) =>
    head(attack, `POST ${echoPath}?${"a=&".repeat(4_000)}`, ["content-length: 0", "connection: close"])
  ),
  {
    ...stranger,
    name: "unread-answers",
    sends: "500 connections request 100 times `/v1/openapi.json` and read nothing",
    sees: ["open", "closed"],
    attack: async (attack) => {
      const requests = head(attack, "GET /v1/openapi.json").repeat(100)
      await openMany(attack, 500, () => attack.open(requests, { reads: false }))
      await attack.wait()
    }
  }
]
