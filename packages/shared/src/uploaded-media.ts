/** The `url` of a message whose file was uploaded before, with `upload-media`. */
const scheme = 'media:'

export const urlOfUpload = (mediaId: string) => `${scheme}${mediaId}`

/** The id of the upload; undefined for any other URL. */
export function uploadOfUrl(url: string | null): string | undefined {
  return url?.startsWith(scheme) ? url.slice(scheme.length) : undefined
}
