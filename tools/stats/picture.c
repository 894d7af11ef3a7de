/* SPDX-License-Identifier: MIT */
/* The only file that uses libpng. */
#include "picture.h"

#include <png.h>
#include <string.h>

int picture_write(const struct picture *picture, FILE *file, const char **reason)
{
    static char message[64];
    png_image image;

    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = (png_uint_32)picture->width;
    image.height = (png_uint_32)picture->height;
    image.format = PNG_FORMAT_RGB_COLORMAP;
    image.colormap_entries = PICTURE_COLOURS;
    if (png_image_write_to_stdio(&image, file, 0, picture->pixel,
                                 (png_int_32)picture->width, picture->colour))
        return 0;
    snprintf(message, sizeof message, "%s", image.message);
    *reason = message;
    return -1;
}
