/** Sizes and numbers of the parts of an upload. */
import { Effect } from "effect"
import { BadRequest, type PlanRequired } from "../../foundation/Errors.ts"
import { type MultipartUpload, partBytesMax, partBytesMin, partsMax, type UploadedPart } from "./MultipartUpload.ts"
import { fileTooLarge } from "./Quota.ts"
import { exceedsLimit } from "./StoreRules.ts"

/** Maximum size of a file from parts, in bytes. */
export const assembledBytesMax = partsMax * partBytesMax

const MiB = 1024 ** 2

/** Recommended size, unless the file would have more than `partsMax` parts. */
const partBytesDefault = 8 * MiB

/** Returns the recommended parts for a file of `expectedSize` bytes (at most `assembledBytesMax`) or of unknown size. */
export const planParts = (expectedSize: number | null): Pick<MultipartUpload, "part_size" | "parts_expected"> => {
  if (expectedSize === null) return { part_size: partBytesDefault, parts_expected: 1 }
  const part_size = Math.max(partBytesDefault, Math.ceil(expectedSize / partsMax / MiB) * MiB)
  return { part_size, parts_expected: Math.max(1, Math.ceil(expectedSize / part_size)) }
}

/** Parses the number of a part from the URL. */
export const parsePartNumber = (text: string): Effect.Effect<number, BadRequest> => {
  const number = /^[1-9][0-9]{0,4}$/.test(text) ? Number(text) : Number.NaN
  return number <= partsMax ? Effect.succeed(number) : refuse(`part_number must be an integer from 1 to ${partsMax}`)
}

/** Returns the size of the file that the parts, sorted by number, make. Fails if parts are missing or invalid. */
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
  return exceedsLimit(fileBytes, size) ? Effect.fail(fileTooLarge(fileBytes)) : Effect.succeed(size)
}

const refuse = (reason: string): Effect.Effect<never, BadRequest> => Effect.fail(new BadRequest({ reason }))
