/** `svc.asset`: the files of the build's zip. */
import { Effect, Schema } from "effect"
import { NotFound } from "../../../foundation/Errors.ts"
import { Assets } from "../../../resources/builds/Assets.ts"
import { GuestId, Piece, PieceRequest } from "../Bytes.ts"
import { contentOpener } from "../Contents.ts"
import { ofRun, operation, textOperation } from "../Operation.ts"

const Name = { name: Schema.String }

const guest = { handWritten: "the result reads bytes and streams in pieces" }

export const assetGet = operation({
  name: "asset.get",
  input: Schema.Struct(Name),
  output: Schema.NullOr(
    Schema.Struct({ name: Schema.String, size: Schema.Int, content_type: Schema.String, etag: Schema.String })
  ),
  permission: ofRun,
  span: "internal",
  guest,
  needs: Assets,
  handler:
    (assets) =>
    (run, { name }) =>
      Effect.map(assets.open(run, name), (asset) => {
        if (asset === null) return null
        const { size, content_type, etag } = asset
        return { name, size, content_type, etag }
      })
})

export const assetOpen = textOperation({
  name: "asset.open",
  input: Schema.Struct({ ...Name, id: GuestId, ...PieceRequest }),
  output: Piece,
  permission: ofRun,
  span: "internal",
  guest,
  needs: Effect.all({ assets: Assets, open: contentOpener }),
  handler:
    ({ assets, open }) =>
    (run, { name, ...piece }) =>
      Effect.flatMap(assets.open(run, name), (asset) =>
        asset === null
          ? Effect.fail(new NotFound({ resource: "asset" }))
          : open(run, piece, Effect.succeed(asset.bytes))
      )
})
