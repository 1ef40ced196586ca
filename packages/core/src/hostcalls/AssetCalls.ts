/**
 * The host calls behind the guest's `svc.asset`.
 *
 * | operation    | payload             | answer                                   |
 * | ------------ | ------------------- | ---------------------------------------- |
 * | `asset.get`  | name                | name, size, content_type, etag, or null  |
 * | `asset.open` | id, name, max, text | bytes, done; and so on by `content.read` |
 */
import { Effect, Schema } from "effect"
import { Assets } from "../builds/Assets.ts"
import { NotFound } from "../errors/Errors.ts"
import type { Contents } from "./Contents.ts"
import { GuestId, type GuestOperation, guestOperation, Piece } from "./GuestOperation.ts"

const Name = { name: Schema.String }

export const makeAssetCalls = (
  contents: Contents
): Effect.Effect<ReadonlyArray<readonly [string, GuestOperation]>, never, Assets> =>
  Effect.map(Assets, (assets) => [
    [
      "asset.get",
      guestOperation(Schema.Struct(Name), (run, { name }) =>
        Effect.map(assets.open(run, name), (asset) => {
          if (asset === null) return "null"
          const { size, content_type, etag } = asset
          return JSON.stringify({ name, size, content_type, etag })
        })
      )
    ],
    [
      "asset.open",
      guestOperation(Schema.Struct({ ...Name, id: GuestId, ...Piece }), (run, { name, ...piece }) =>
        Effect.flatMap(assets.open(run, name), (asset) =>
          asset === null
            ? Effect.fail(new NotFound({ resource: "asset" }))
            : contents.begin(run, piece, Effect.succeed(asset.bytes))
        )
      )
    ]
  ])
