/**
 * An operation that guests call through the host: everything that the runtime, the sandboxes and the SDK derive from.
 *
 * See `docs/design/svc.md`. Payloads are untrusted until the input schema has decoded them.
 */
import { Effect, Schema } from "effect"
import { isDeeper } from "../../foundation/JsonDepth.ts"
import { JsonText } from "../../foundation/JsonText.ts"
import { HostCallRefused, hostCallRefused } from "../../platform/sandbox/Sandbox.ts"
import { nextTurn, Turns } from "../../platform/turns/Turns.ts"
import { Caller, hostIdentity, type Identity } from "../../tenants/access/Caller.ts"
import type { Run } from "../runs/Run.ts"
import type { GuestFace } from "./GuestFace.ts"
import { type Limits, makeLimits } from "./Limits.ts"
import type { ModelClient } from "./ModelClient.ts"

/** The run of a call, its depth in its chain of events, and the MCP client that waits for it, if one does. */
export interface CallingRun extends Run {
  readonly depth: number
  readonly client?: ModelClient | undefined
  /** Identity with the rights of the code, if it has not all rights of the environment. */
  readonly rights?: Identity | undefined
}

/** An error that guest code may see, by name and message, because callers can act on it. */
export interface GuestVisibleError {
  readonly _tag: string
  readonly message: string
}

/** Rights of a handler. */
export interface Permission<R> {
  readonly grant: <A, E>(run: CallingRun, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E>
}

/** Grants the rights of the run: by default all of its environment. The services check them as for any caller. */
export const ofEnvironment: Permission<Caller> = {
  grant: (run, effect) => Effect.provideService(effect, Caller, run.rights ?? hostIdentity(run.env_id))
}

/** Grants no rights: the handler uses only what belongs to the run itself. */
export const ofRun: Permission<never> = { grant: (_, effect) => effect }

/**
 * Span of a call in the run's trace: `client` for requests to other servers. Operations with `none` transfer one piece of
 * a content, and a guest makes many of them.
 */
export type SpanKind = "internal" | "client" | "none"

/**
 * Acts for a run. Adds the secrets that it returns to `secrets`, for `maskLog`. `text` is that of `limits.size`, so that
 * it is encoded only once; empty without such a limit.
 */
export type Handler<A, Out, E extends GuestVisibleError, R> = (
  run: CallingRun,
  input: A,
  secrets: Set<string>,
  text: JsonText
) => Effect.Effect<Out, E, R>

/** Executes a call; JSON text in and out. */
export type Execute = (run: CallingRun, payload: string, secrets: Set<string>) => Effect.Effect<string, HostCallRefused>

/** An operation in the table. */
export interface Operation<Name extends string, I, O, Face extends GuestFace, Services> {
  /** `group.method` or `method`. */
  readonly name: Name
  /** Decodes the payload. */
  readonly input: Schema.Codec<unknown, I>
  /** The reply. It is not encoded at run time: handlers return values of its type. */
  readonly output: Schema.Codec<O, unknown>
  readonly span: SpanKind
  readonly guest: Face
  /** Builds the function that executes calls, once per node. */
  readonly execute: Effect.Effect<Execute, never, Services>
}

interface Description<
  Name extends string,
  A,
  I,
  O,
  Face extends GuestFace,
  R,
  Out,
  E extends GuestVisibleError,
  S,
  Services
> extends Omit<Operation<Name, I, O, Face, Services>, "execute"> {
  readonly input: Schema.Codec<A, I>
  readonly permission: Permission<R>
  readonly limits?: Limits<NoInfer<A>>
  /**
   * Names of the guest's errors: of an invalid payload, and of the handler's failures. By default `TypeError`, and the
   * tag of the failure. A `BadRequest` also names the operation in its message.
   */
  readonly errors?: { readonly invalid?: "BadRequest"; readonly failed?: "TypeError" }
  /** Services of the handler. */
  readonly needs: Effect.Effect<S, never, Services>
  readonly handler: (services: NoInfer<S>) => Handler<NoInfer<A>, Out, E, NoInfer<R>>
}

/** Returns an operation whose handler returns a value. */
export const operation = <
  const Name extends string,
  A,
  I,
  O,
  const Face extends GuestFace,
  R,
  E extends GuestVisibleError,
  S,
  Services
>(
  description: Description<Name, A, I, O, Face, R, NoInfer<O>, E, S, Services>
): Operation<Name, I, O, Face, Services> => {
  const { name, input, output, span, guest } = description
  const execute = compile(description, encodeInTurn)
  return { name, input, output, span, guest, execute }
}

/** Returns an operation whose handler returns JSON text, because encoding a value again would copy its bytes. */
export const textOperation = <
  const Name extends string,
  A,
  I,
  O,
  const Face extends GuestFace,
  R,
  E extends GuestVisibleError,
  S,
  Services
>(
  description: Description<Name, A, I, O, Face, R, string, E, S, Services>
): Operation<Name, I, O, Face, Services> => {
  const { name, input, output, span, guest } = description
  return { name, input, output, span, guest, execute: compile(description, (_, answer) => answer) }
}

/** Returns JSON text; null for `undefined`. */
const encode = (value: unknown): string => JSON.stringify(value) ?? "null"

/** Encodes an answer. Thousands of calls may have waited for the same event, so each then waits for a turn. */
const encodeInTurn = <A, E>({ env_id }: Run, answer: Effect.Effect<A, E>): Effect.Effect<string, E> =>
  Effect.flatMap(Turns, (turns) => {
    const begun = turns.turn
    return Effect.flatMap(answer, (value) =>
      turns.turn === begun
        ? Effect.succeed(encode(value))
        : Effect.map(nextTurn(turns, env_id, "host_call"), () => encode(value))
    )
  })

const compile = <A, R, Out, E extends GuestVisibleError, S, Services>(
  {
    name,
    input,
    permission,
    limits,
    errors = {},
    needs,
    handler
  }: Description<string, A, unknown, unknown, GuestFace, R, Out, E, S, Services>,
  toText: (run: Run, answer: Effect.Effect<Out, HostCallRefused>) => Effect.Effect<string, HostCallRefused>
): Effect.Effect<Execute, never, Services> =>
  Effect.gen(function* () {
    const handle = handler(yield* needs)
    const findExceeded = limits === undefined ? null : yield* makeLimits(name, limits)
    const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(input))
    const onFailure = ({ message }: { readonly message: string }) =>
      errors.invalid === "BadRequest"
        ? Effect.fail(hostCallRefused("BadRequest", `svc.${name}: ${message}`))
        : refuse(message)
    const toRefusal = (error: GuestVisibleError): HostCallRefused =>
      error instanceof HostCallRefused ? error : hostCallRefused(errors.failed ?? error._tag, error.message)

    return (run, payload, secrets) =>
      Effect.matchEffect(isDeeper(payload, payloadLevelsMax) ? tooDeep : decode(payload), {
        onFailure,
        onSuccess: (decoded) => {
          const text = limits?.size?.of(decoded) ?? noText
          const exceeded = findExceeded?.(run, text) ?? null
          return exceeded === null
            ? toText(run, Effect.mapError(permission.grant(run, handle(run, decoded, secrets, text)), toRefusal))
            : Effect.fail(exceeded)
        }
      })
  })

/** Maximum levels of the JSON text of a host call: 500 of a value, as in the HTTP API, and those around it. */
export const payloadLevelsMax = 504

const tooDeep = Effect.fail({ message: "an argument is nested deeper than 500 levels" })

const noText = JsonText.make("")

/** Fails with a `TypeError` for the guest. */
export const refuse = (message: string) => Effect.fail(hostCallRefused("TypeError", message))
