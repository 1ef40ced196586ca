/** How a file is cut into parts, and when parts make a file. */
import { Effect } from "effect"
import { BadRequest, type PlanRequired } from "../errors/Errors.ts"
import { type MultipartUpload, partBytesMax, partBytesMin, partsMax, type UploadedPart } from "./MultipartUpload.ts"
import { fileTooLarge } from "./Quota.ts"
import { isOver } from "./StoreRules.ts"

/** The largest file that parts can make. */
export const assembledBytesMax = partsMax * partBytesMax

const MiB = 1024 ** 2

/** Recommended unless there would be too many parts then. */
const partBytesUsual = 8 * MiB

/** What to recommend for a file of `expectedSize` bytes (at most `assembledBytesMax`), or of unknown size. */
export const partPlan = (expectedSize: number | null): Pick<MultipartUpload, "part_size" | "parts_expected"> => {
  if (expectedSize === null) return { part_size: partBytesUsual, parts_expected: 1 }
  const part_size = Math.max(partBytesUsual, Math.ceil(expectedSize / partsMax / MiB) * MiB)
  return { part_size, parts_expected: Math.max(1, Math.ceil(expectedSize / part_size)) }
}

/** The number of a part as the URL says it. */
export const parsePartNumber = (text: string): Effect.Effect<number, BadRequest> => {
  const number = /^[1-9][0-9]{0,4}$/.test(text) ? Number(text) : Number.NaN
  return number <= partsMax ? Effect.succeed(number) : refuse(`part_number must be an integer from 1 to ${partsMax}`)
}

/** The size of the file that the parts, by number, make; fails when they make none. */
export const assembledSize = (
  parts: ReadonlyArray<UploadedPart>,
  expectedSize: number | null,
  fileBytes: number
): Effect.Effect<number, BadRequest | PlanRequired> => {
  if (parts.length === 0) return refuse("No part was uploaded")
  const gap = parts.findIndex((part, index) => part.part_number !== index + 1)
  if (gap !== -1) return refuse(`Part ${gap + 1} is missing`)
  const short = parts.slice(0, -1).find((part) => part.size < partBytesMin)
  if (short !== undefined) {
    return refuse(`Part ${short.part_number} is not the last and must have at least ${partBytesMin} bytes`)
  }
  const size = parts.reduce((sum, part) => sum + part.size, 0)
  if (expectedSize !== null && size !== expectedSize) {
    return refuse(`The parts have ${size} bytes, not the expected_size of ${expectedSize}`)
  }
  return isOver(fileBytes, size) ? Effect.fail(fileTooLarge(fileBytes)) : Effect.succeed(size)
}

const refuse = (reason: string): Effect.Effect<never, BadRequest> => Effect.fail(new BadRequest({ reason }))
