/** Colours of results. */
import type { Paint } from "../../output/Paint.ts"
import { printable } from "../../output/Printable.ts"

/** Returns the text of a result, in the colour of its kind. The text is untrusted. */
export const resultText = (text: string, paint: Paint): string => {
  const shown = printable(text)
  if (/^['"`]/.test(shown)) return paint.green(shown)
  if (/^-?(?:\d|Infinity$|NaN$)|^(?:true|false)$/.test(shown)) return paint.yellow(shown)
  if (/^(?:null|undefined)$/.test(shown)) return paint.dim(shown)
  if (/^(?:\[Function|\[class|\[AsyncFunction|\[GeneratorFunction)/.test(shown)) return paint.cyan(shown)
  return shown
}
