/** Uploads a file of any size. Large files are sent in parts. */
import { createSignal, type JSX } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { showToast } from "../design/Toasts.tsx"
import { t } from "../text/Language.ts"

export const UploadDialog = (props: {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onUploaded: () => void
}): JSX.Element => {
  const [file, setFile] = createSignal<File | null>(null)
  const [path, setPath] = createSignal("")
  const choose = (chosen: File | null) => {
    setFile(chosen)
    if (chosen !== null && path() === "") setPath(chosen.name)
  }
  const upload = async () => {
    const chosen = file()
    if (chosen === null) return
    await weft.files.upload(path(), chosen, chosen.type === "" ? {} : { contentType: chosen.type })
    showToast(t().files.uploaded)
    setPath("")
    props.onUploaded()
  }
  return (
    <Confirm
      isOpen={props.isOpen}
      onClose={props.onClose}
      title={t().files.upload}
      action={t().files.upload}
      command={`weft files put ${shellWord(file()?.name ?? "invoice.pdf")} ${shellWord(path() || "invoices/")}`}
      onConfirm={upload}
    >
      <label class="field">
        <span>{t().files.choose}</span>
        <input
          class="input"
          type="file"
          required
          onChange={(event) => choose(event.currentTarget.files?.[0] ?? null)}
        />
      </label>
      <label class="field">
        <span>{t().files.path}</span>
        <input
          class="input mono"
          required
          placeholder="invoices/2026.pdf"
          value={path()}
          onInput={(event) => setPath(event.currentTarget.value)}
        />
      </label>
    </Confirm>
  )
}
