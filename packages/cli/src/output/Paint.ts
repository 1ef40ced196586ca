/** Colours, for terminals that support them. */

export interface Paint {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly red: (text: string) => string
  readonly green: (text: string) => string
  readonly yellow: (text: string) => string
  readonly cyan: (text: string) => string
}

const within = (on: number, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`

const colours: Paint = {
  bold: within(1, 22),
  dim: within(2, 22),
  red: within(31, 39),
  green: within(32, 39),
  yellow: within(33, 39),
  cyan: within(36, 39)
}

const same = (text: string): string => text

const plain: Paint = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same }

export const makePaint = (canColor: boolean): Paint => (canColor ? colours : plain)
