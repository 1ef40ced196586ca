/** Flags of `weft deploy --preview`. */
import type { PreviewInput } from "@weft/client"
import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { type Failure, usageError } from "../../Failure.ts"
import { switchFlag } from "../../input/Switch.ts"

export const previewFlags = {
  ttl: Flag.String("ttl").pipe(
    Flag.withDescription("Time until the preview is removed, such as 7d (the default)"),
    Flag.optional
  ),
  schedules: switchFlag("schedules", "Let the schedules of the preview fire"),
  copyEvents: switchFlag("copy-events", "Send copies of the environment's events to the preview"),
  ownSecrets: switchFlag("own-secrets", "Hide the secrets of the project from the preview")
}

export interface PreviewSettings {
  readonly ttl: Option.Option<string>
  readonly schedules: boolean
  readonly copyEvents: boolean
  readonly ownSecrets: boolean
}

/** Returns the settings of the preview; undefined without one. Fails for its flags without `--preview`. */
export const readPreviewFlags = Effect.fnUntraced(function* (
  preview: string | undefined,
  { ttl, schedules, copyEvents, ownSecrets }: PreviewSettings
): Effect.fn.Return<Omit<PreviewInput, "build_id"> | undefined, Failure> {
  if (preview === undefined) {
    return Option.isSome(ttl) || schedules || copyEvents || ownSecrets
      ? yield* usageError(
          "--ttl, --schedules, --copy-events and --own-secrets need --preview",
          "for example: weft deploy --preview pr-42 --ttl 2d"
        )
      : undefined
  }
  return {
    ...(Option.isSome(ttl) ? { ttl: ttl.value } : {}),
    ...(schedules ? { schedules } : {}),
    ...(copyEvents ? { copy_events: true } : {}),
    ...(ownSecrets ? { secrets: "own" as const } : {})
  }
})
