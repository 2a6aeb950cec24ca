/*
 * diff/html_assets.h
 *
 * The style and the scripts of the HTML report, from the files of diff/html (diff/html.cmake).
 */
#ifndef RH_DIFF_HTML_ASSETS_H
#define RH_DIFF_HTML_ASSETS_H

#include <stddef.h>

extern const char rh_html_style[];
extern const size_t rh_html_style_len;
/* All of them one after the other, as one needs what is before it. */
extern const char rh_html_script[];
extern const size_t rh_html_script_len;

#endif
