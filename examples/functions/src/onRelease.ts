/** Summarizes a release: its notes, and the size and downloads of its assets. */
import { handler } from "@weft/sdk"
import * as z from "zod"
import { deliveryWith } from "./delivery.ts"
import { plainText } from "./markdown.ts"

const Release = z.object({
  action: z.string(),
  release: z.object({
    tag_name: z.string(),
    name: z.string().nullish(),
    body: z.string().nullish(),
    prerelease: z.boolean(),
    assets: z.array(z.object({ name: z.string(), size: z.int(), download_count: z.int() }))
  })
})

export const onRelease = handler({ event: "github:release:*", data: deliveryWith(Release) }, (event) => {
  const { action, release } = event.event_data.payload
  return {
    kind: "release",
    action,
    title: release.name ?? release.tag_name,
    channel: release.prerelease ? "next" : "latest",
    notes: plainText(release.body ?? ""),
    bytes: release.assets.reduce((sum, { size }) => sum + size, 0),
    downloads: release.assets.reduce((sum, { download_count }) => sum + download_count, 0)
  }
})
