/** Host calls of sockets and WebSockets, as a compromised guest would make them, with a fake egress. */
import { assert, describe, it } from "@effect/vitest"
import { EnvId } from "@weft/core"
import { Egress, noEgress, type SocketRequest, type WebSocketMessage } from "@weft/core/adapter"
import { Effect, Fiber, Layer } from "effect"
import { makeOperationCalls } from "../../../../src/runtime/svc/GuestCalls.ts"
import {
  socketClose,
  socketOpen,
  socketRead,
  socketSecure,
  socketWrite
} from "../../../../src/runtime/svc/operations/sockets.ts"
import {
  webSocketCancel,
  webSocketClose,
  webSocketOpen,
  webSocketReceive,
  webSocketSend
} from "../../../../src/runtime/svc/operations/webSockets.ts"
import { defaultPlans } from "../../../../src/tenants/orgs/Plan.ts"
import { Plans } from "../../../../src/tenants/orgs/Plans.ts"
import { makeId, makeRun } from "../Runs.ts"

const run = makeRun(EnvId.make(makeId(2)))
const other = makeRun(run.env_id, 3)

const table = [
  ...[socketOpen, socketRead, socketWrite, socketSecure, socketClose],
  ...[webSocketOpen, webSocketSend, webSocketReceive, webSocketClose, webSocketCancel]
] as const

const base64 = (text: string) => Buffer.from(text).toString("base64")
const open = { id: 1, host: "db.test", port: 5432, tls: null }
const tls = { server_name: null, verify: true, authorities: [], alpn: [] }
const openWeb = { id: 1, url: "ws://a.test", protocols: [], headers: [] }

/** Counts open connections. Sockets echo one answer; WebSockets never receive. */
const world = (socketsPerRun: number) => {
  const state = { open: 0, requests: [] as SocketRequest[], sent: [] as string[], closes: [] as unknown[] }
  const counted = Effect.acquireRelease(
    Effect.sync(() => state.open++),
    () => Effect.sync(() => state.open--)
  )
  const egress = Egress.of({
    ...noEgress,
    openSocket: (_, request) =>
      Effect.gen(function* () {
        yield* counted
        state.requests.push(request)
        return {
          tls: null,
          read: (max) =>
            max === 1 ? Effect.never : Effect.succeed({ bytes: new Uint8Array(Math.min(max, 10)), done: true }),
          write: (bytes) => Effect.sync(() => void state.sent.push(Buffer.from(bytes).toString())),
          finish: Effect.sync(() => void state.sent.push("end")),
          startTls: ({ serverName }) => Effect.succeed({ alpn: serverName })
        }
      }),
    openWebSocket: (_, { url }) =>
      Effect.gen(function* () {
        yield* counted
        let messages: ReadonlyArray<WebSocketMessage> = [
          { isBinary: false, bytes: Buffer.from("é".repeat(150_000)) },
          { isBinary: true, bytes: Buffer.from("ab") },
          { isBinary: false, bytes: new Uint8Array() }
        ]
        return {
          protocol: url,
          messageBytes: 10,
          receive: () =>
            Effect.suspend(() => {
              const taken = messages
              messages = []
              return taken.length === 0 ? Effect.never : Effect.succeed(taken)
            }),
          send: ({ bytes, isBinary }) =>
            Effect.sync(() => void state.sent.push(`${isBinary} ${Buffer.from(bytes).toString()}`)),
          close: (...given) => Effect.sync(() => void state.closes.push(given))
        }
      })
  })
  const plan = { ...defaultPlans.Free, tcp_sockets_per_run: socketsPerRun }
  const found = { env: Object(null), org: { plan: "Free" }, plan }
  const plans = Layer.mock(Plans, { table: defaultPlans, getCached: () => Object(found) })
  const calls = makeOperationCalls(table).pipe(
    Effect.provideService(Egress, egress),
    Effect.provide(plans),
    Effect.map((made) => ({
      ...made,
      call: (op: string, payload: unknown, owner = run) => {
        const execute = made.execute.get(op)
        if (execute === undefined) throw new Error(`There is no ${op}`)
        return Effect.map(execute(owner, JSON.stringify(payload), new Set()), (json): unknown => JSON.parse(json))
      }
    }))
  )
  return { state, calls }
}

describe("the operations of sockets", () => {
  it.live("reject invalid payloads as TypeErrors before a connection is opened", () =>
    Effect.gen(function* () {
      const { state, calls } = world(2)
      const { call } = yield* calls
      const wrong: ReadonlyArray<readonly [op: string, payload: unknown]> = [
        ["socket.open", null],
        ["socket.open", { ...open, id: 0 }],
        ["socket.open", { ...open, port: 0 }],
        ["socket.open", { ...open, port: 65_536 }],
        ["socket.open", { ...open, port: 1.5 }],
        ["socket.open", { ...open, host: "" }],
        ["socket.open", { ...open, host: "a".repeat(254) }],
        ["socket.open", { ...open, tls: true }],
        ["socket.open", { ...open, tls: { ...tls, authorities: ["a".repeat(65_537)] } }],
        ["socket.open", { ...open, tls: { ...tls, alpn: ["a".repeat(256)] } }],
        ["socket.open", { ...open, tls: { ...tls, alpn: new Array(9).fill("a") } }],
        ["socket.read", { id: 1, max: 10 }],
        ["socket.write", { id: 1, bytes: "YQ==", done: true }],
        ["socket.secure", { id: 1, tls }],
        ["socket.close", {}],
        ["websocket.open", { ...openWeb, headers: [["a"]] }],
        ["websocket.open", { ...openWeb, protocols: "a" }],
        ["websocket.receive", { id: 1 }],
        ["websocket.send", { id: 1, binary: true, bytes: "YQ==", more: false }],
        ["websocket.close", { id: 1, code: "1000", reason: "" }]
      ]
      for (const [op, payload] of wrong) {
        const error = yield* Effect.flip(call(op, payload))
        assert.deepStrictEqual(
          [error._tag, error.name],
          ["HostCallRefused", "TypeError"],
          JSON.stringify([op, payload])
        )
      }
      assert.strictEqual(state.requests.length, 0)
      for (const op of ["socket.close", "websocket.cancel"]) assert.isNull(yield* call(op, { id: 9 }))
      assert.isNull(yield* call("websocket.close", { id: 9, code: null, reason: "" }))
    })
  )

  it.live("require a plan that allows TCP sockets, up to its number in each run", () =>
    Effect.gen(function* () {
      const none = yield* world(0).calls
      const refused = yield* Effect.flip(none.call("socket.open", open))
      assert.match(refused.message, /^the plan Free allows no TCP sockets/)
      const { state, calls } = world(2)
      const { call } = yield* calls
      yield* call("socket.open", open)
      yield* call("socket.open", { ...open, id: 2 })
      assert.strictEqual((yield* Effect.flip(call("socket.open", { ...open, id: 1 }))).message, "the socket is open")
      const exceeded = yield* Effect.flip(call("socket.open", { ...open, id: 3 }))
      assert.deepStrictEqual(
        [exceeded.name, exceeded.message],
        ["LimitExceeded", "a run may open at most 2 TCP sockets (tcp_sockets_per_run)"]
      )
      yield* call("socket.open", open, other)
      assert.strictEqual(state.open, 3)
      yield* call("socket.close", { id: 1 })
      yield* call("socket.open", { ...open, id: 3 })
      const unlimited = yield* world(-1).calls
      for (let id = 1; id <= 50; id++) yield* unlimited.call("socket.open", { ...open, id })
    })
  )

  it.live("belong to their run, and end with it", () =>
    Effect.gen(function* () {
      const { state, calls } = world(2)
      const { call, end } = yield* calls
      yield* call("socket.open", open)
      yield* call("websocket.open", openWeb)
      for (const [op, payload] of [
        ["socket.read", { id: 1, max: 10 }],
        ["socket.write", { id: 1, bytes: "", done: true }],
        ["socket.secure", { id: 1, tls }],
        ["websocket.receive", { id: 1 }],
        ["websocket.send", { id: 1, binary: true, bytes: "", more: false }]
      ] as const) {
        assert.strictEqual((yield* Effect.flip(call(op, payload, other))).message, "the connection is closed", op)
      }
      yield* call("socket.close", { id: 1 }, other)
      assert.strictEqual(state.open, 2)
      const reading = yield* Effect.forkChild(Effect.flip(call("socket.read", { id: 1, max: 1 })))
      yield* Effect.yieldNow
      yield* end(run)
      assert.strictEqual(state.open, 0)
      assert.strictEqual((yield* Fiber.join(reading)).message, "the connection is closed")
    })
  )

  it.live("transfer bytes, the end of the stream, and TLS", () =>
    Effect.gen(function* () {
      const { state, calls } = world(2)
      const { call } = yield* calls
      assert.isNull(yield* call("socket.open", { ...open, tls: { ...tls, server_name: "x.test" } }))
      assert.deepStrictEqual(state.requests[0]?.tls, { serverName: "x.test", verify: true, authorities: [], alpn: [] })
      yield* call("socket.write", { id: 1, bytes: base64("hello"), done: false })
      yield* call("socket.write", { id: 1, bytes: "", done: true })
      assert.deepStrictEqual(state.sent, ["hello", "end"])
      assert.deepStrictEqual(yield* call("socket.read", { id: 1, max: 3 }), { bytes: "AAAA", done: true })
      assert.deepStrictEqual(yield* call("socket.secure", { id: 1, tls: { ...tls, server_name: "y" } }), { alpn: "y" })
    })
  )
})

describe("the operations of WebSockets", () => {
  it.live("split large messages, and join those that the guest sends in pieces", () =>
    Effect.gen(function* () {
      const { state, calls } = world(0)
      const { call } = yield* calls
      assert.deepStrictEqual(yield* call("websocket.open", openWeb), { protocol: "ws://a.test" })
      let text = ""
      const rest: Array<unknown> = []
      while (rest.length < 2) {
        const { messages, end } = Object(yield* call("websocket.receive", { id: 1 }))
        assert.isNull(end)
        for (const { binary, data, more } of messages) {
          assert.isAtMost(data.length, 128 * 1024)
          if (more || text.length < 150_000) text += data
          else rest.push([binary, data])
        }
      }
      assert.strictEqual(text, "é".repeat(150_000))
      assert.deepStrictEqual(rest, [
        [true, base64("ab")],
        [false, ""]
      ])
      yield* call("websocket.send", { id: 1, binary: false, bytes: base64("hel"), more: true })
      yield* call("websocket.send", { id: 1, binary: false, bytes: base64("lo"), more: false })
      yield* call("websocket.send", { id: 1, binary: true, bytes: "", more: false })
      assert.deepStrictEqual(state.sent, ["false hello", "true "])
      yield* call("websocket.send", { id: 1, binary: true, bytes: base64("12345678"), more: true })
      const exceeded = yield* Effect.flip(
        call("websocket.send", { id: 1, binary: true, bytes: base64("901"), more: true })
      )
      assert.deepStrictEqual(
        [exceeded.name, exceeded.message],
        ["LimitExceeded", "a message may have at most 10 bytes"]
      )
    })
  )

  it.live("allow 32 connections of a run, and only the close codes of applications", () =>
    Effect.gen(function* () {
      const { state, calls } = world(0)
      const { call, end } = yield* calls
      for (let id = 1; id <= 32; id++) yield* call("websocket.open", { ...openWeb, id })
      const exceeded = yield* Effect.flip(call("websocket.open", { ...openWeb, id: 33 }))
      assert.deepStrictEqual(
        [exceeded.name, exceeded.message],
        ["LimitExceeded", "a run may open at most 32 WebSockets"]
      )
      yield* call("websocket.close", { id: 1, code: 3000, reason: "r" })
      yield* call("websocket.close", { id: 1, code: null, reason: "" })
      for (const [code, reason] of [
        [1001, ""],
        [999, ""],
        [5000, ""],
        [1000, "a".repeat(124)]
      ] as const) {
        const error = yield* Effect.flip(call("websocket.close", { id: 1, code, reason }))
        assert.strictEqual(error.message, "the close code or reason is invalid")
      }
      assert.deepStrictEqual(state.closes, [
        [3000, "r"],
        [null, ""]
      ])
      yield* end(run)
      assert.strictEqual(state.open, 0)
    })
  )
})
