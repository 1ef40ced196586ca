import type { Json } from "@weft/client"
import { t } from "./Language.ts"

/** Parses JSON that a person typed. */
export const parseJson = (text: string): Json => {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(t().events.invalidJson)
  }
}
