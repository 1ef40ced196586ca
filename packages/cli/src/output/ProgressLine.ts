/** Text of a progress bar. */
import { bytes } from "./Sizes.ts"
import { truncate } from "./Table.ts"

export interface Progress {
  readonly label: string
  /** Bytes. */
  readonly done: number
  /** Bytes of a resumed transfer that were done before. The rate does not include them. */
  readonly before: number
  /** Bytes; null if unknown. */
  readonly total: number | null
  readonly elapsedMs: number
}

const barWidth = 20

/** Returns one line of at most `width` columns: label, progress, rate and time left. */
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
  const labelWidth = width - facts.length - 2
  return labelWidth < 8 ? truncate(facts, width) : `${truncate(label, labelWidth)}  ${facts}`
}

const timeLeft = (seconds: number): string => {
  const whole = Math.ceil(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const clock = `${String(minutes).padStart(2, "0")}:${String(whole % 60).padStart(2, "0")}`
  return hours === 0 ? clock : `${hours}:${clock}`
}
