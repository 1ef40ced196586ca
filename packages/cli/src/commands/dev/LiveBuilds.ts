/** What is saved becomes the live build. */
import { Cause, Clock, Effect, Fiber, FiberHandle, Option, Ref } from "effect"
import type { Bundle, Bundler } from "../../bundle/Bundle.ts"
import type { Api } from "../../connection/Api.ts"
import { type Addresses, addressesAt, addressOf } from "../../deployment/Addresses.ts"
import { changesOf } from "../../deployment/Changes.ts"
import { type Offer, type Offered, offerOf } from "../../deployment/Offer.ts"
import { makeReader, type Reader } from "../../deployment/Reading.ts"
import { tellChanges, tellOffer } from "../../deployment/Telling.ts"
import { type Failure, failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { bytes } from "../../output/Sizes.ts"
import { localTime } from "../../output/Times.ts"
import type { Project } from "../../project/Project.ts"
import { placeOf } from "./Places.ts"

interface Live {
  readonly build_id: string
  readonly hash: string
}

export interface LiveBuilds {
  /** Builds and uploads what the sources are now. Fails without any change, with the place in the sources. */
  readonly renew: Effect.Effect<Bundle, Failure>
}

export interface LiveOptions {
  readonly api: Api["Service"]
  readonly project: Project
  readonly url: string
  readonly bundler: Bundler
}

/** The live build ends with the scope, unless somebody else's has taken its place. */
export const makeLiveBuilds = Effect.fnUntraced(function* ({ api, project, url, bundler }: LiveOptions) {
  const output = yield* Output
  const live = yield* Ref.make<Live | null>(null)
  const tell = yield* makeTelling(api, url)
  yield* Effect.addFinalizer(() => endLive(api, project.name, live))

  const upload = Effect.fnUntraced(function* ({ zip, hash, inputs }: Bundle) {
    const { build_id } = yield* api
      .ask((weft, asking) => weft.builds.upload(project.name, zip, { ...asking, hash, build_type: "live" }))
      .pipe(Effect.mapError((refusal) => placed(refusal, project.folder, inputs)))
    yield* Ref.set(live, { build_id, hash })
    return build_id
  })

  return {
    renew: Effect.gen(function* () {
      const begun = yield* Clock.currentTimeMillis
      const bundle = yield* bundler.bundle(1)
      if ((yield* Ref.get(live))?.hash === bundle.hash) return bundle
      const build_id = yield* upload(bundle)
      const ms = (yield* Clock.currentTimeMillis) - begun
      yield* output.line(
        { event: "live", build_id, ms, size: bundle.zip.length },
        () => `${output.paint.green("live")} in ${ms} ms, ${bytes(bundle.zip.length)}`
      )
      yield* tell(bundle.zip)
      return bundle
    })
  } satisfies LiveBuilds
})

/** What a server refuses has a place in the sources, too. */
const placed = (refusal: Failure, folder: string, inputs: ReadonlyArray<string>): Failure => {
  const { code, message, remedy, details } = refusal
  const place = placeOf(message, folder, inputs)
  return place === null ? refusal : failure(code, message, remedy, [place, ...details])
}

const endLive = Effect.fnUntraced(
  function* (api: Api["Service"], project: string, live: Ref.Ref<Live | null>) {
    const output = yield* Output
    const own = yield* Ref.get(live)
    if (own === null) return
    const now = yield* api.ask((weft, asking) => weft.builds.live(project, asking))
    if (now.build_id !== own.build_id) return
    yield* api.ask((weft, asking) => weft.builds.endLive(project, asking))
    yield* output.note("The live build has ended: what is deployed serves again")
  },
  Effect.timeout("5 seconds"),
  (ending) => Effect.ignore(ending)
)

/** Tells what a live build offers: all of it the first time, then what is different. Meanwhile the next may be made. */
const makeTelling = Effect.fnUntraced(function* (api: Api["Service"], url: string) {
  const output = yield* Output
  const latest = yield* FiberHandle.make<void>()
  const opening = yield* Effect.forkScoped(
    Effect.all([makeReader, Effect.option(api.ask(addressesAt(url)))], { concurrency: 2 })
  )
  let told: Offer | null = null

  const telling = Effect.fnUntraced(function* (zip: Uint8Array) {
    const [reader, addresses] = yield* Fiber.join(opening)
    const manifest = yield* reader.read(zip)
    const offer = offerOf(manifest)
    const [before, now] = [told, yield* Clock.currentTimeMillis]
    told = offer
    if (before === null) {
      const notes = offer.map((offered) => noteOf(Option.getOrNull(addresses), reader, offered, now))
      yield* output.line(
        { event: "offer", offers: offer.map((offered, index) => ({ ...offered, at: notes[index] })) },
        () => tellOffer(offer, output.paint, (offered) => notes[offer.indexOf(offered)] ?? null).join("\n")
      )
      return
    }
    const changes = changesOf(before, offer)
    if (changes.length === 0) return
    yield* output.line({ event: "changes", changes }, () => tellChanges(changes, output.paint).join("\n"))
  })

  return (zip: Uint8Array) =>
    FiberHandle.run(
      latest,
      telling(zip).pipe(
        // The server has accepted the build; that it cannot be told of here is all.
        Effect.catchCause((cause) => output.note(`What the build offers cannot be told: ${Cause.pretty(cause)}`))
      )
    )
})

/** The URL of a webhook, when a schedule is due next. */
const noteOf = (addresses: Addresses | null, reader: Reader, offered: Offered, now: number): string | null => {
  if (offered.due === null) return addresses === null ? null : addressOf(addresses, offered)
  const next = reader.nextTick(offered.due, now)
  return next === null ? "never" : `next at ${localTime(new Date(next).toISOString())}`
}
