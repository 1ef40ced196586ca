/** The files of the environment, by path. */
import { useSearchParams } from "@solidjs/router"
import type { File as StoredFile } from "@weft/client"
import { createSignal, type JSX } from "solid-js"
import { weft } from "../api/client.ts"
import { Confirm } from "../design/Confirm.tsx"
import { copyText } from "../design/CopyButton.tsx"
import { Empty } from "../design/Feedback.tsx"
import { Icon, type IconName } from "../design/Icon.tsx"
import { PagedTable } from "../design/PagedTable.tsx"
import { shellWord } from "../design/shellCommand.ts"
import { showToast } from "../design/Toasts.tsx"
import { formatBytes, formatInstant } from "../text/format.ts"
import { t } from "../text/Language.ts"
import { UploadDialog } from "./UploadDialog.tsx"
import "./data.css"

export default function FilesPage(): JSX.Element {
  const [search, setSearch] = useSearchParams<{ prefix?: string }>()
  const [refreshes, setRefreshes] = createSignal(0)
  const [isUploading, setUploading] = createSignal(false)
  const [removed, setRemoved] = createSignal<StoredFile | null>(null)
  const prefix = () => (typeof search.prefix === "string" ? search.prefix : "")
  const refresh = () => setRefreshes(refreshes() + 1)
  const load = async (offset: number, limit: number, signal: AbortSignal) => {
    const query = { limit, offset, ...(prefix() === "" ? {} : { prefix: prefix() }) }
    return await weft.files.list(query, { signal })
  }
  return (
    <div class="page tall">
      <div class="page-head">
        <h1>{t().files.title}</h1>
        <div class="actions">
          <button type="button" class="button primary" onClick={() => setUploading(true)}>
            <Icon name="upload" />
            {t().files.upload}
          </button>
        </div>
      </div>
      <div class="filters">
        <label class="field">
          <span>{t().files.prefix}</span>
          <input
            class="input mono"
            type="search"
            placeholder="invoices/"
            value={prefix()}
            onInput={(event) => setSearch({ prefix: event.currentTarget.value || undefined }, { replace: true })}
          />
        </label>
      </div>
      <PagedTable<StoredFile>
        label={t().files.table}
        columns="file-columns"
        headers={[t().files.path, t().files.size, t().files.type, t().files.changed, t().files.actions]}
        version={JSON.stringify([prefix(), refreshes()])}
        load={load}
        row={(file) => <FileCells file={file} onRemove={() => setRemoved(file)} />}
        empty={<Empty title={t().files.emptyTitle} text={t().files.empty} />}
      />
      <UploadDialog isOpen={isUploading()} onClose={() => setUploading(false)} onUploaded={refresh} />
      <Confirm
        isOpen={removed() !== null}
        onClose={() => setRemoved(null)}
        title={t().files.removeTitle}
        text={`${removed()?.path ?? ""}: ${t().files.removeText}`}
        action={t().files.remove}
        command={`weft files rm ${shellWord(removed()?.path ?? "")}`}
        isDanger
        onConfirm={async () => {
          await weft.files.remove(removed()?.file_id ?? "")
          refresh()
        }}
      />
    </div>
  )
}

const FileCells = (props: { readonly file: StoredFile; readonly onRemove: () => void }): JSX.Element => {
  const link = async () => (await weft.files.link(props.file.file_id, { expires_in: 3600 })).url
  const copy = async () => {
    await copyText(await link())
    showToast(t().files.linkCopied)
  }
  const download = async () => {
    const anchor = document.createElement("a")
    anchor.href = await link()
    anchor.download = props.file.path.split("/").at(-1) ?? ""
    anchor.click()
  }
  return (
    <>
      <span role="cell" class="cut mono" title={props.file.path}>
        {props.file.path}
      </span>
      <span role="cell" class="cut number">
        {formatBytes(props.file.size)}
      </span>
      <span role="cell" class="cut muted">
        {props.file.content_type}
      </span>
      <span role="cell" class="cut muted">
        {formatInstant(props.file.updated_at)}
      </span>
      <span role="cell" class="file-actions">
        <Action icon="download" label={t().files.download} path={props.file.path} onClick={() => void download()} />
        <Action icon="copy" label={t().files.link} path={props.file.path} onClick={() => void copy()} />
        <Action icon="close" label={t().files.remove} path={props.file.path} onClick={props.onRemove} />
      </span>
    </>
  )
}

const Action = (props: {
  readonly icon: IconName
  readonly label: string
  readonly path: string
  readonly onClick: () => void
}): JSX.Element => (
  <button
    type="button"
    class="button quiet icon"
    title={props.label}
    aria-label={`${props.label}: ${props.path}`}
    onClick={props.onClick}
  >
    <Icon name={props.icon} />
  </button>
)
