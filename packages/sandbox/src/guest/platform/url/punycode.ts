/** Punycode (RFC 3492) of single labels, without the "xn--". */

const base = 36
const tMin = 1
const tMax = 26
const skew = 38
const damp = 700
const firstN = 128
const firstBias = 72

const adapt = (delta: number, points: number, first: boolean): number => {
  let rest = first ? Math.floor(delta / damp) : delta >> 1
  rest += Math.floor(rest / points)
  let k = 0
  while (rest > ((base - tMin) * tMax) >> 1) {
    rest = Math.floor(rest / (base - tMin))
    k += base
  }
  return k + Math.floor(((base - tMin + 1) * rest) / (rest + skew))
}

const threshold = (k: number, bias: number): number => Math.min(Math.max(k - bias, tMin), tMax)

const toLetter = (digit: number): string => String.fromCharCode(digit < 26 ? digit + 0x61 : digit + 0x16)

const toDigit = (letter: string): number => {
  const unit = letter.charCodeAt(0)
  if (unit >= 0x30 && unit <= 0x39) {
    return unit - 0x16
  }
  const lower = unit | 0x20
  return lower >= 0x61 && lower <= 0x7a ? lower - 0x61 : base
}

const integer = (value: number, bias: number): string => {
  let text = ""
  let rest = value
  for (let k = base; ; k += base) {
    const t = threshold(k, bias)
    if (rest < t) {
      return text + toLetter(rest)
    }
    text += toLetter(t + ((rest - t) % (base - t)))
    rest = Math.floor((rest - t) / (base - t))
  }
}

/** Encodes a label; null if it is too long. */
export const encodeLabel = (label: string): string | null => {
  const points = Array.from(label, (character) => character.codePointAt(0) ?? 0)
  const basic = points.filter((point) => point < firstN)
  let output = basic.map((point) => String.fromCharCode(point)).join("")
  output += basic.length > 0 ? "-" : ""
  let handled = basic.length
  let n = firstN
  let delta = 0
  let bias = firstBias
  while (handled < points.length) {
    const next = Math.min(...points.filter((point) => point >= n))
    delta += (next - n) * (handled + 1)
    if (delta > 0x7fffffff) {
      return null
    }
    n = next
    for (const point of points) {
      if (point < n) {
        delta++
      } else if (point === n) {
        output += integer(delta, bias)
        bias = adapt(delta, handled + 1, handled === basic.length)
        delta = 0
        handled++
      }
    }
    delta++
    n++
  }
  return output
}

/** Decodes a label; null if `text` is not punycode. */
export const decodeLabel = (text: string): string | null => {
  const delimiter = text.lastIndexOf("-")
  const points = Array.from(text.slice(0, Math.max(delimiter, 0)), (character) => character.charCodeAt(0))
  let index = delimiter < 0 ? 0 : delimiter + 1
  let n = firstN
  let i = 0
  let bias = firstBias
  while (index < text.length) {
    const start = i
    let weight = 1
    for (let k = base; ; k += base) {
      const digit = index < text.length ? toDigit(text.charAt(index++)) : base
      i += digit * weight
      if (digit >= base || i > 0x7fffffff) {
        return null
      }
      const t = threshold(k, bias)
      if (digit < t) {
        break
      }
      weight *= base - t
    }
    bias = adapt(i - start, points.length + 1, start === 0)
    n += Math.floor(i / (points.length + 1))
    i %= points.length + 1
    if (n > 0x10ffff) {
      return null
    }
    points.splice(i++, 0, n)
  }
  return points.map((point) => String.fromCodePoint(point)).join("")
}
