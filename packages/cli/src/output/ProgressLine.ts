/** What a progress bar shows. */
import { bytes } from "./Sizes.ts"
import { cut } from "./Table.ts"

export interface Progress {
  readonly label: string
  /** Bytes. */
  readonly done: number
  /** Bytes of them that were there before, and say nothing of how fast it goes. */
  readonly before: number
  /** Bytes; null where only the end tells. */
  readonly total: number | null
  readonly elapsedMs: number
}

const barWidth = 20

/** One line of at most `width` characters: what, how much, how fast, how long still. */
export const progressLine = ({ label, done, before, total, elapsedMs }: Progress, width: number): string => {
  const perSecond = elapsedMs > 0 ? ((done - before) / elapsedMs) * 1000 : 0
  const rate = `${bytes(perSecond)}/s`
  if (total === null) return fit(label, `${bytes(done)}  ${rate}`, width)
  const part = total === 0 ? 1 : Math.min(1, done / total)
  const filled = Math.round(part * barWidth)
  const bar = `[${"#".repeat(filled)}${"-".repeat(barWidth - filled)}]`
  const percent = `${Math.floor(part * 100)}%`.padStart(4)
  const left = perSecond > 0 && done < total ? `  ${timeLeft((total - done) / perSecond)} left` : ""
  return fit(label, `${bar} ${percent}  ${bytes(done)} of ${bytes(total)}  ${rate}${left}`, width)
}

const fit = (label: string, facts: string, width: number): string => {
  const room = width - facts.length - 2
  return room < 8 ? cut(facts, width) : `${cut(label, room)}  ${facts}`
}

const timeLeft = (seconds: number): string => {
  const whole = Math.ceil(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const clock = `${String(minutes).padStart(2, "0")}:${String(whole % 60).padStart(2, "0")}`
  return hours === 0 ? clock : `${hours}:${clock}`
}
