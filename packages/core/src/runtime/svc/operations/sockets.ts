/**
 * TCP sockets of guests, on the host's `Egress`, if the plan allows them.
 *
 * The guest reads and writes piece by piece, so a slow guest slows down its peer, and a slow peer the guest.
 */
import { Effect, Option, Schema } from "effect"
import { base64Encode } from "../../../foundation/Base64.ts"
import { Egress, noEgress } from "../../../platform/egress/Egress.ts"
import type { EgressSocket, TlsOptions } from "../../../platform/egress/EgressSocket.ts"
import { hostCallRefused } from "../../../platform/sandbox/Sandbox.ts"
import { Plans } from "../../../tenants/orgs/Plans.ts"
import type { Run } from "../../runs/Run.ts"
import { answerBytesMax, decodeBytes, GuestId, PieceRequest } from "../Bytes.ts"
import { EgressSession, notOpen } from "../EgressSession.ts"
import { endOperation } from "../endOperation.ts"
import { ofRun, operation, refuse, textOperation } from "../Operation.ts"
import { runResources } from "../RunResources.ts"

const sessions = runResources<EgressSession<EgressSocket>>()

const guest = { handWritten: "`connect` of `@weft/sdk/sockets`, with streams and its own errors" }

const errors = { failed: "TypeError" } as const

/** Maximum length of the trusted authorities of a socket together, in characters. */
const authoritiesLengthMax = 64 * 1024
/** Maximum length of a host name: RFC 1035. */
const nameLengthMax = 253
/** Maximum application protocols of one handshake, and the length of a name: RFC 7301. */
const alpnMax = 8
const alpnLengthMax = 255

const Name = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(nameLengthMax))

const Tls = Schema.Struct({
  server_name: Schema.NullOr(Name),
  verify: Schema.Boolean,
  authorities: Schema.Array(Schema.String).check(
    Schema.makeFilter((texts) => texts.reduce((length, text) => length + text.length, 0) <= authoritiesLengthMax)
  ),
  alpn: Schema.Array(Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(alpnLengthMax))).check(
    Schema.isMaxLength(alpnMax)
  )
})

const Session = Schema.Struct({ alpn: Schema.NullOr(Schema.String) })

const toTlsOptions = ({ server_name, ...tls }: typeof Tls.Type): TlsOptions => ({ ...tls, serverName: server_name })

/** Fails if the run may not open another socket. */
const requirePlan = Effect.fnUntraced(function* (plans: Plans["Service"], run: Run, open: number) {
  const found = plans.getCached(run.env_id) ?? (yield* Effect.mapError(plans.of(run.env_id), () => planUnknown))
  const max = found.plan.tcp_sockets_per_run
  if (max === 0) {
    return yield* hostCallRefused(
      "TypeError",
      `the plan ${found.org.plan} allows no TCP sockets (tcp_sockets_per_run is 0): use fetch, or ask the operator`
    )
  }
  if (max !== -1 && open >= max) {
    return yield* hostCallRefused("LimitExceeded", `a run may open at most ${max} TCP sockets (tcp_sockets_per_run)`)
  }
})

const planUnknown = hostCallRefused("HostCallFailed", "the plan cannot be read now")

export const socketOpen = operation({
  name: "socket.open",
  input: Schema.Struct({
    id: GuestId,
    host: Name,
    port: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 65_535 })),
    tls: Schema.NullOr(Tls)
  }),
  output: Schema.NullOr(Session),
  permission: ofRun,
  errors,
  span: "client",
  guest,
  needs: Effect.all({ supplied: Effect.serviceOption(Egress), plans: Plans, open: sessions }),
  handler: ({ supplied, plans, open }) => {
    const egress = Option.getOrElse(supplied, () => noEgress)
    return Effect.fnUntraced(function* (run, { id, host, port, tls }) {
      if (open.find(run.run_id, id) !== undefined) return yield* refuse("the socket is open")
      yield* requirePlan(plans, run, open.list(run.run_id).length)
      const session = new EgressSession<EgressSocket>(() => open.remove(run.run_id, id))
      open.add(run.run_id, id, session)
      const request = { host, port, tls: tls === null ? null : toTlsOptions(tls) }
      return (yield* session.open(egress.openSocket(run.env_id, request))).tls
    })
  }
})

export const socketRead = textOperation({
  name: "socket.read",
  input: Schema.Struct({ id: GuestId, max: PieceRequest.max }),
  output: Schema.Struct({ bytes: Schema.String, done: Schema.Boolean }),
  permission: ofRun,
  errors,
  span: "none",
  guest,
  needs: sessions,
  handler:
    (open) =>
    (run, { id, max }) =>
      Effect.map(
        open.find(run.run_id, id)?.use((socket) => socket.read(Math.min(max, answerBytesMax))) ?? notOpen,
        ({ bytes, done }) => `{"bytes":"${base64Encode(bytes)}","done":${done}}`
      )
})

/** Sends bytes, and with `done` the end of the stream. */
export const socketWrite = operation({
  name: "socket.write",
  input: Schema.Struct({ id: GuestId, bytes: Schema.String, done: Schema.Boolean }),
  output: Schema.Void,
  permission: ofRun,
  errors,
  span: "none",
  guest,
  needs: sessions,
  handler: (open) =>
    Effect.fnUntraced(function* (run, { id, bytes, done }) {
      const session = open.find(run.run_id, id)
      if (session === undefined) return yield* notOpen
      const decoded = yield* decodeBytes(bytes)
      if (decoded.length > 0) yield* session.use((socket) => socket.write(decoded))
      if (done) yield* session.use((socket) => socket.finish)
    })
})

export const socketSecure = operation({
  name: "socket.secure",
  input: Schema.Struct({ id: GuestId, tls: Tls }),
  output: Session,
  permission: ofRun,
  errors,
  span: "client",
  guest,
  needs: sessions,
  handler:
    (open) =>
    (run, { id, tls }) =>
      open.find(run.run_id, id)?.use((socket) => socket.startTls(toTlsOptions(tls))) ?? notOpen
})

export const socketClose = endOperation("socket.close", guest, sessions)
