/**
 * The host calls that read what is stored, of files and assets alike, after a call of theirs has opened it.
 *
 * | operation        | payload        | answer      |
 * | ---------------- | -------------- | ----------- |
 * | `content.read`   | id, max, text  | bytes, done |
 * | `content.cancel` | id             | null        |
 *
 * `id` is the guest's own number for the reading; `bytes` are base64, or with `text` what they say in UTF-8. What a
 * run leaves open ends with it.
 */
import { Effect, Exit, Schema, Scope, type Stream } from "effect"
import { base64Encode } from "../ids/Base64.ts"
import type { RunId } from "../ids/Ids.ts"
import {
  answerBytesMax,
  GuestId,
  type GuestOperation,
  guestOperation,
  type Owner,
  Piece,
  refused
} from "./GuestOperation.ts"
import { Inflow } from "./Inflow.ts"
import { type Open, OpenOfRuns } from "./OpenOfRuns.ts"

/** What the call that opens asks for, of the first bytes. */
export interface FirstPiece {
  readonly id: number
  readonly max: number
  readonly text: boolean
}

type Failure = { readonly _tag: string; readonly message: string }

class Content implements Open {
  readonly #scope = Scope.makeUnsafe()
  readonly #onEnd: () => void
  #inflow: Inflow<Failure> | undefined

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  readonly end: Effect.Effect<void> = Effect.suspend(() => {
    this.#onEnd()
    return Scope.close(this.#scope, Exit.void)
  })

  open(bytes: Effect.Effect<Stream.Stream<Uint8Array, Failure>, Failure, Scope.Scope>): Effect.Effect<void, Failure> {
    return Effect.gen({ self: this }, function* () {
      this.#inflow = yield* Inflow.open(yield* bytes)
    }).pipe(
      Effect.provideService(Scope.Scope, this.#scope),
      Effect.onError(() => this.end)
    )
  }

  read(max: number, text: boolean): Effect.Effect<string, Failure> {
    return Effect.suspend(() => {
      const inflow = this.#inflow
      if (inflow === undefined) return refused("the content is not open yet")
      return Effect.flatMap(
        Effect.onError(inflow.read(Math.min(max, answerBytesMax)), () => this.end),
        (taken) => {
          const { bytes, done } = taken
          // Base64 needs no escapes.
          const content = text ? JSON.stringify(inflow.textOf(bytes, done)) : `"${base64Encode(bytes)}"`
          return Effect.as(done ? this.end : Effect.void, `{"bytes":${content},"done":${done}}`)
        }
      )
    })
  }
}

export class Contents {
  readonly #open = new OpenOfRuns<Content>()
  readonly operations: ReadonlyArray<readonly [string, GuestOperation]> = [
    [
      "content.read",
      guestOperation(Schema.Struct({ id: GuestId, ...Piece }), (run, { id, max, text }) =>
        Effect.suspend(() => this.#open.find(run.run_id, id)?.read(max, text) ?? refused("the content is over"))
      )
    ],
    [
      "content.cancel",
      guestOperation(Schema.Struct({ id: GuestId }), (run, { id }) =>
        Effect.as(
          Effect.suspend(() => this.#open.find(run.run_id, id)?.end ?? Effect.void),
          "null"
        )
      )
    ]
  ]

  /** Opens bytes under the guest's number and answers with the first of them. */
  begin(
    run: Owner,
    { id, max, text }: FirstPiece,
    bytes: Effect.Effect<Stream.Stream<Uint8Array, Failure>, Failure, Scope.Scope>
  ): Effect.Effect<string, Failure> {
    return Effect.suspend(() => {
      if (this.#open.find(run.run_id, id) !== undefined) return refused("the content is being read")
      const content = new Content(() => this.#open.remove(run.run_id, id))
      this.#open.add(run.run_id, id, content)
      return Effect.andThen(content.open(bytes), content.read(max, text))
    })
  }

  endAll(runId: RunId): Effect.Effect<void> {
    return this.#open.endAll(runId)
  }
}
