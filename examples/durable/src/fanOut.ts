/** Resizes the images of an album: a step for each, and 20 at a time. */
import { durable } from "@weft/sdk"
import * as z from "zod"

const Album = z.object({ images: z.array(z.string()) })

export const resize = durable({ event: "album:uploaded", data: Album }, async (event, svc) => {
  const sizes = await mapLimited(event.event_data.images, 20, (image) =>
    svc.step(
      `resize ${image}`,
      async () => {
        const response = await fetch(`https://images.example.test/resize/${image}`)
        return Number(await response.text())
      },
      { retry: { attempts: 3 } }
    )
  )
  return { images: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
})

/** Calls `fn` for each item, at most `limit` at a time. Only results decide which call is next, so a replay repeats the order. */
const mapLimited = async <A, B>(
  items: ReadonlyArray<A>,
  limit: number,
  fn: (item: A) => Promise<B>
): Promise<ReadonlyArray<B>> => {
  const results: Array<B> = []
  const entries = items.entries()
  const work = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await fn(item)
  }
  await Promise.all(Array.from({ length: limit }, work))
  return results
}
