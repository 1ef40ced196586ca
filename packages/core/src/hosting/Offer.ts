/**
 * A host function as it is called: within its limits, with checked input and output.
 *
 * What the host did wrong is told to the host's log; the guest learns that it failed, and the id of its run.
 */
import { Cause, Clock, Deferred, Effect, Exit, Fiber, Option } from "effect"
import { utf8Length } from "../ids/Utf8.ts"
import { defaultLimits } from "../sandbox/Limits.ts"
import { type Backlog, backlogMax } from "./Backlog.ts"
import { readGuestJson } from "./GuestJson.ts"
import type { HostRefused, TenantCall } from "./HostFunction.ts"
import type { HostMeter, HostOutcome } from "./HostMeter.ts"
import type { OfferedFunction } from "./HostTable.ts"
import { Rates } from "./Rates.ts"
import { Turns } from "./Turns.ts"

/** A call that came to no answer: how it is counted, and what the guest is told. */
export class Unanswered {
  readonly outcome: HostOutcome
  readonly name: string
  readonly message: string

  constructor(outcome: HostOutcome, name: string, message: string) {
    this.outcome = outcome
    this.name = name
    this.message = message
  }
}

export class Offer {
  readonly #function: OfferedFunction
  readonly #rates: Rates | null
  readonly #ofRun: Turns
  readonly #ofEnv: Turns
  readonly #backlog: Backlog
  readonly #meter: HostMeter

  constructor(offered: OfferedFunction, backlog: Backlog, meter: HostMeter) {
    this.#function = offered
    this.#rates = offered.rate === null ? null : new Rates(offered.rate)
    this.#ofRun = new Turns(offered.concurrency.run)
    this.#ofEnv = new Turns(offered.concurrency.env)
    this.#backlog = backlog
    this.#meter = meter
  }

  allows(call: TenantCall): Effect.Effect<boolean, Unanswered> {
    return Effect.suspend(() => Effect.succeed(this.#function.allow?.(call) ?? true)).pipe(
      Effect.map((answer) => answer === true),
      Effect.catchCause((cause) => failed(call, "could not say whether it is allowed", cause))
    )
  }

  /** JSON text in and out; empty texts for nothing. Interruption gives the call up. */
  call(call: TenantCall, payload: string): Effect.Effect<string, Unanswered> {
    return Effect.onExit(this.#call(call, payload), (exit) => Effect.sync(() => this.#count(call.name, exit)))
  }

  readonly #call = Effect.fnUntraced(function* (this: Offer, call: TenantCall, payload: string) {
    const waitMs = this.#rates?.take(call.env.env_id, yield* Clock.currentTimeMillis) ?? 0
    if (waitMs > 0) return yield* limited(`${call.name} may be called again in ${waitMs} ms`)
    const input = yield* this.#read(call, payload)
    return yield* this.#write(call, yield* this.#perform(call, input, payload.length))
  })

  #read(call: TenantCall, payload: string): Effect.Effect<unknown, Unanswered> {
    const { read } = this.#function
    return read === null
      ? Effect.undefined
      : Effect.flatMap(readGuestJson(payload), read).pipe(
          Effect.mapError(({ reason }) => new Unanswered("invalid", "Invalid", `${call.name}: ${reason}`)),
          Effect.catchDefect((defect) => failed(call, "could not read its input", Cause.die(defect)))
        )
  }

  #write(call: TenantCall, output: unknown): Effect.Effect<string, Unanswered> {
    const { write } = this.#function
    return write === null
      ? Effect.succeed("")
      : Effect.map(write(output), (value) => JSON.stringify(value) ?? "null").pipe(
          Effect.catchCause((cause) => failed(call, "gave what is not as its schema says", cause)),
          Effect.filterOrElse(
            (text) => utf8Length(text) <= defaultLimits.hostCallBytes,
            () => failed(call, `gave more than ${defaultLimits.hostCallBytes} bytes of JSON`, Cause.empty)
          )
        )
  }

  /** When nobody waits for the function any more, it is asked to end, and holds its turn until it has. */
  #perform(call: TenantCall, input: unknown, characters: number): Effect.Effect<unknown, Unanswered> {
    const { env_id } = call.env
    return Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        if (!this.#backlog.hold(env_id, characters)) return limited(backlogFull)
        const began = Deferred.makeUnsafe<void>()
        const inTurn = this.#ofRun.take(call.run.run_id, this.#ofEnv.take(env_id, this.#run(call, input, began)))
        return Effect.flatMap(Effect.forkDetach(inTurn), (fiber) => {
          fiber.addObserver(() => {
            this.#backlog.release(env_id, characters)
            Deferred.doneUnsafe(began, Exit.void)
          })
          return Effect.ensuring(
            restore(this.#resultOf(call, fiber, began)),
            Effect.sync(() => fiber.interruptUnsafe())
          )
        })
      })
    )
  }

  #run(call: TenantCall, input: unknown, began: Deferred.Deferred<void>): Effect.Effect<unknown, unknown> {
    return Effect.flatMap(Clock.currentTimeMillis, (started) => {
      this.#meter.began(call.name)
      Deferred.doneUnsafe(began, Exit.void)
      return Effect.ensuring(
        this.#function.run(input, call),
        Effect.map(Clock.currentTimeMillis, (now) => this.#meter.ended(call.name, now - started))
      )
    })
  }

  readonly #resultOf = Effect.fnUntraced(function* (
    this: Offer,
    call: TenantCall,
    fiber: Fiber.Fiber<unknown, unknown>,
    began: Deferred.Deferred<void>
  ) {
    yield* Deferred.await(began)
    const { timeoutMs } = this.#function
    const exit = yield* Effect.timeoutOption(Fiber.await(fiber), timeoutMs)
    if (Option.isNone(exit)) {
      const message = `The host function ${call.name} took longer than ${timeoutMs} ms`
      return yield* Effect.fail(new Unanswered("timed_out", "TimedOut", message))
    }
    if (Exit.isSuccess(exit.value)) return exit.value.value
    const thrown = Cause.squash(exit.value.cause)
    if (!isRefusal(thrown)) return yield* failed(call, "failed", exit.value.cause)
    const { name, message } = thrown
    return yield* Effect.fail(new Unanswered("refused", name.slice(0, 64), message.slice(0, 1024)))
  })

  #count(name: string, exit: Exit.Exit<string, Unanswered>): void {
    const error = Exit.isSuccess(exit) ? undefined : Option.getOrUndefined(Cause.findErrorOption(exit.cause))
    this.#meter.count(name, Exit.isSuccess(exit) ? "answered" : (error?.outcome ?? "ended"))
  }
}

const backlogFull = `An environment may have ${backlogMax.calls} calls wait, and ${backlogMax.characters} characters of input`

const limited = (message: string): Effect.Effect<never, Unanswered> =>
  Effect.fail(new Unanswered("limited", "LimitExceeded", message))

/** Also one of another copy of this package. */
const isRefusal = (thrown: unknown): thrown is HostRefused =>
  typeof thrown === "object" &&
  thrown !== null &&
  "_tag" in thrown &&
  thrown._tag === "HostRefused" &&
  "name" in thrown &&
  typeof thrown.name === "string" &&
  "message" in thrown &&
  typeof thrown.message === "string"

const failed = (call: TenantCall, what: string, cause: Cause.Cause<unknown>): Effect.Effect<never, Unanswered> => {
  const { run_id, env_id } = call.run
  return Effect.logError(`The host function ${call.name} ${what}`, cause).pipe(
    Effect.annotateLogs({ run_id, env_id }),
    Effect.andThen(
      Effect.fail(new Unanswered("failed", "HostFailure", `The host function ${call.name} failed (run ${run_id})`))
    )
  )
}
