/** Colours of the page from one colour of the host. Texts keep a contrast of at least 4.5. */

type Rgb = readonly [red: number, green: number, blue: number]

const parse = (hex: string): Rgb => {
  const part = (index: number) => Number.parseInt(hex.slice(index, index + 2), 16)
  return [part(1), part(3), part(5)]
}

const format = (color: Rgb): string =>
  `#${color.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`

/** Relative luminance of WCAG 2. */
const luminance = (color: Rgb): number => {
  const [red, green, blue] = color.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0)
}

const contrast = (one: Rgb, other: Rgb): number => {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

const contrastMin = 4.6
const white: Rgb = [255, 255, 255]
const black: Rgb = [0, 0, 0]

/** Mixes the colour with `target` until its contrast to each of `others` suffices. */
const adjust = (color: Rgb, target: Rgb, others: ReadonlyArray<Rgb>): Rgb => {
  for (let share = 0; share <= 1; share += 0.05) {
    const mixed: Rgb = [
      color[0] + (target[0] - color[0]) * share,
      color[1] + (target[1] - color[1]) * share,
      color[2] + (target[2] - color[2]) * share
    ]
    if (others.every((other) => contrast(mixed, other) >= contrastMin)) return mixed
  }
  return target
}

/** Surfaces on which the colour of texts is used, from `tokens.css`: plain and selected. */
const lightSurfaces = ["#ffffff", "#ecebff"].map(parse)
const darkSurfaces = ["#16181d", "#282a45"].map(parse)

/** Returns the values of custom properties for a colour as `#rrggbb`. */
export const accentColors = (hex: string): Readonly<Record<string, string>> => {
  const color = parse(hex)
  const onLight = format(adjust(color, black, lightSurfaces))
  const onDark = format(adjust(color, white, darkSurfaces))
  const fill = adjust(color, black, [white])
  return {
    "--accent": `light-dark(${onLight}, ${onDark})`,
    "--focus": `light-dark(${onLight}, ${onDark})`,
    "--accent-fill": format(fill),
    "--accent-fill-hover": format(adjust([fill[0] * 0.85, fill[1] * 0.85, fill[2] * 0.85], black, [white]))
  }
}
