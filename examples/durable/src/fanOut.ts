/** Resizes the images of an album: a step for each, and 20 at a time. */
import { durable } from "@weft/sdk"
import * as z from "zod"

const Album = z.object({ images: z.array(z.string()) })

const resizeOne = async (image: string, signal: AbortSignal): Promise<number> => {
  const response = await fetch(`https://images.example.test/resize/${image}`, { signal })
  if (!response.ok) throw new Error(`${image}: the service responded with ${response.status}`)
  return Number(await response.text())
}

export const resize = durable({ event: "album:uploaded", data: Album }, async (event, svc) => {
  const sizes = await svc.all(
    event.event_data.images,
    (image) =>
      svc.step(`resize ${image}`, ({ signal }) => resizeOne(image, signal), { retry: { attempts: 3 }, timeout: "1m" }),
    { concurrency: 20 }
  )
  return { images: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
})
